/**
 * The paths under which a file is answered, relative to the base: its own, and for a page the one that
 * people link to (`about.html` is `about`, `guide/index.html` is `guide/`).
 */
export function pageUrls(path: string): readonly [string, ...string[]] {
  if (!path.endsWith('.html')) return [path]
  return [path, isIndex(path) ? directoryOf(path) : path.slice(0, -'.html'.length)]
}

/**
 * The path that is redirected to a page's own, relative to the base: the one with or without the slash
 * that is wrong. `undefined` for what is no page, and for the page of the base itself.
 */
export function redirectedPageUrl(path: string): string | undefined {
  const [, page] = pageUrls(path)
  if (page === undefined || page === '') return undefined
  return isIndex(path) ? page.slice(0, -1) : `${page}/`
}

function isIndex(path: string): boolean {
  return path === 'index.html' || path.endsWith('/index.html')
}

/** `''` for the root, else with a slash at its end. */
function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}
