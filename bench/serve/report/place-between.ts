/**
 * Replaces what stands between the marks of a name in a Markdown document.
 *
 * @throws TypeError when the document has no place for it.
 */
export function placeBetween(document: string, name: string, text: string): string {
  const begin = `<!-- measured: ${name} -->`
  const end = `<!-- end of ${name} -->`
  const from = document.indexOf(begin)
  const to = document.indexOf(end, from)
  if (from === -1 || to === -1) throw new TypeError(`expected "${begin}" and "${end}" in the document`)
  return `${document.slice(0, from)}${begin}\n\n${text}\n\n${document.slice(to)}`
}
