/** What commands a terminal (C0, DEL, C1), or ends, hides or reorders the text around it. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** A name as people should see it in one line: what a terminal would obey stands there as an escape. */
export function escapeInvisible(text: string): string {
  return text.replaceAll(invisible, (character) => {
    return String.raw`\u{${(character.codePointAt(0) ?? 0).toString(16)}}`
  })
}

/** A message with names in it: its own lines and tabs stay. */
export function escapeMessage(text: string): string {
  return text.replaceAll(/[^\n\t]+/g, escapeInvisible)
}
