/** JSON for a script element: nothing in it can end the element or begin a comment. */
export function embedJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/[<>&\u2028\u2029]/g, (character) => {
    return String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
