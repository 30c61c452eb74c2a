/**
 * A page in which modules get another URL than the one that they import. An import map that is there already gets one
 * line more, and keeps the rest, for older browsers take no second one. Vite moves the map before all that loads a module.
 *
 * @throws SyntaxError where the page's own map is no JSON; browsers refuse it as well.
 */
export function mapImport(html: string, from: string, to: string): string {
  const own = firstElement(html, importMap)
  if (own === undefined) {
    const map = `<script type="importmap">${inScript({ imports: { [from]: to } })}</script>`
    const place = firstElement(html, moduleLoader)?.start ?? Math.max(html.search(/<\/head>/i), 0)
    return `${html.slice(0, place)}${map}\n${html.slice(place)}`
  }
  const start = own.start + own.text.indexOf('>') + 1
  const end = own.start + own.text.lastIndexOf('<')
  const map: unknown = JSON.parse(html.slice(start, end))
  const merged = { ...Object(map), imports: { ...Object(Object(map).imports), [from]: to } }
  return `${html.slice(0, start)}${inScript(merged)}${html.slice(end)}`
}

const importMap = /<script\b[^>]*\btype\s*=\s*["']?importmap\b[^>]*>[\s\S]*?<\/script\s*>/
const moduleLoader = /<script\b[^>]*\btype\s*=\s*["']?module\b|<link\b[^>]*\brel\s*=\s*["']?modulepreload\b/

function firstElement(
  html: string,
  form: RegExp,
): { readonly text: string; readonly start: number } | undefined {
  // What stands in a comment is no element.
  for (const { 0: text, index: start } of html.matchAll(new RegExp(`<!--[\\s\\S]*?-->|${form.source}`, 'gi')))
    if (!text.startsWith('<!--')) return { text, start }
  return undefined
}

/** JSON that no parser of HTML takes for the end of the script. */
function inScript(map: object): string {
  return JSON.stringify(map).replaceAll('<', String.raw`\u003c`)
}
