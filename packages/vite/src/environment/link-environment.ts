/** The first element that loads a module: import maps stand before it. */
const moduleLoader =
  /[ \t]*<(?:script\b[^>]*\btype\s*=\s*["']?module\b|link\b[^>]*\brel\s*=\s*["']?modulepreload\b)/i

/** A page that asks for the module of the environment beside its first module. */
export function linkEnvironment(html: string, url: string): string {
  // Up to Vite 7, what moves import maps before all that loads a module sees links with "/>" alone.
  const link = `<link rel="modulepreload" crossorigin href="${url.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}" />`
  // What stands in a comment loads nothing.
  const seen = html.replaceAll(/<!--[\s\S]*?-->/g, (comment) => '-'.repeat(comment.length))
  const place = moduleLoader.exec(seen)?.index ?? seen.search(/<\/head>/i)
  return place < 0 ? html : `${html.slice(0, place)}${link}\n${html.slice(place)}`
}
