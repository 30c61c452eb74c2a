/** @typedef {{ place: string, language: string, code: string }} Block */

/**
 * The blocks of code in a document, in their order.
 *
 * @param {{ path: string, text: string }} document
 * @returns {Block[]}
 */
export function blocksOf({ path, text }) {
  const found = text.matchAll(/^( *)```(\w+)\n(.*?)^\1```$/gms)
  return Array.from(found, ({ index, 2: language = '', 3: code = '' }) => ({
    place: `${path}:${text.slice(0, index).split('\n').length}`,
    language,
    code,
  }))
}
