/**
 * Returns the paths of a file relative to the base: its own, and for a page the canonical one (`about.html`
 * is `about`, `guide/index.html` is `guide/`).
 */
export function pageUrls(path: string): readonly [string, ...string[]] {
  if (!path.endsWith('.html')) return [path]
  return [path, isIndex(path) ? directoryOf(path) : path.slice(0, -'.html'.length)]
}

/**
 * Returns the path that redirects to the canonical path of a page, relative to the base. It differs by the
 * slash at its end. Returns `undefined` for files that are not pages and for the page of the base.
 */
export function redirectedPageUrl(path: string): string | undefined {
  const [, page] = pageUrls(path)
  if (page === undefined || page === '') return undefined
  return isIndex(path) ? page.slice(0, -1) : `${page}/`
}

function isIndex(path: string): boolean {
  return path === 'index.html' || path.endsWith('/index.html')
}

/** Returns `''` for the root, otherwise a path with a slash at its end. */
function directoryOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1)
}
