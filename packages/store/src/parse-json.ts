/** @returns `undefined` for what is no JSON, as for what a document lacks. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
