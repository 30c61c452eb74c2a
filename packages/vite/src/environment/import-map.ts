/**
 * Redirects a module URL in a page by an import map. Adds an entry if the page already has a map, because older
 * browsers ignore a second map. Vite moves the map before all elements that load modules.
 *
 * @throws SyntaxError if the page's own map is not valid JSON. Browsers reject such a map.
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
  // Ignore elements in comments.
  for (const { 0: text, index: start } of html.matchAll(new RegExp(`<!--[\\s\\S]*?-->|${form.source}`, 'gi')))
    if (!text.startsWith('<!--')) return { text, start }
  return undefined
}

/** Returns JSON that cannot end a script element. */
function inScript(map: object): string {
  return JSON.stringify(map).replaceAll('<', String.raw`\u003c`)
}
