import { readFile } from 'node:fs/promises'

/** What the HTML page is made of besides the data. */
export interface PageAssets {
  readonly script: string
  readonly style: string
}

/** In an order in which each module stands before those that import it. */
const modules = ['lay-out-treemap.js', 'plan-cells.js', 'nearest-cell.js', 'make-box.js', 'report-page.js']
const moduleSyntax = /^import .*\n|^export (?=function )/gm

/** Reads the page's own files and joins its modules into one, for a page may load nothing. */
export async function readPageAssets(): Promise<PageAssets> {
  const folder = new URL('../../page/', import.meta.url)
  // Browsers take a line feed for every line's end, and the policy's digests must be of what they take.
  const read = async (name: string): Promise<string> =>
    (await readFile(new URL(name, folder), 'utf8')).replaceAll('\r\n', '\n')
  const [style, ...scripts] = await Promise.all(['report.css', ...modules].map(read))
  return {
    style: style ?? '',
    script: scripts.map((script) => script.replaceAll(moduleSyntax, '')).join('\n'),
  }
}
