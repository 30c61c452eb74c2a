import { readFile } from 'node:fs/promises'

/** The script and the style of the HTML page. */
export interface PageAssets {
  readonly script: string
  readonly style: string
}

/** The modules. Each module precedes the modules that import it. */
const modules = ['lay-out-treemap.js', 'plan-cells.js', 'nearest-cell.js', 'make-box.js', 'report-page.js']
const moduleSyntax = /^import .*\n|^export (?=function )/gm

/** Reads the script and the style of the page. Joins the modules, because the page may not load any. */
export async function readPageAssets(): Promise<PageAssets> {
  const folder = new URL('../../page/', import.meta.url)
  // Browsers normalize line ends before they compare the digest in the policy.
  const read = async (name: string): Promise<string> =>
    (await readFile(new URL(name, folder), 'utf8')).replaceAll('\r\n', '\n')
  const [style, ...scripts] = await Promise.all(['report.css', ...modules].map(read))
  return {
    style: style ?? '',
    script: scripts.map((script) => script.replaceAll(moduleSyntax, '')).join('\n'),
  }
}
