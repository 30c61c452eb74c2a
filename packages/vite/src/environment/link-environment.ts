/** The first element that loads a module. Import maps must come before it. */
const moduleLoader =
  /[ \t]*<(?:script\b[^>]*\btype\s*=\s*["']?module\b|link\b[^>]*\brel\s*=\s*["']?modulepreload\b)/i

/** Adds a preload of the environment module to a page, before its first module. */
export function linkEnvironment(html: string, url: string): string {
  // Up to Vite 7, the code that moves import maps recognizes only links with "/>".
  const link = `<link rel="modulepreload" crossorigin href="${url.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}" />`
  // Ignore elements in comments.
  const seen = html.replaceAll(/<!--[\s\S]*?-->/g, (comment) => '-'.repeat(comment.length))
  const place = moduleLoader.exec(seen)?.index ?? seen.search(/<\/head>/i)
  return place < 0 ? html : `${html.slice(0, place)}${link}\n${html.slice(place)}`
}
