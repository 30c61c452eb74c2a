import type { Site } from './site.ts'

/** Pages of single-page applications that frameworks name in ways of their own: TanStack Start, React Router. */
const shells = ['_shell.html', '__spa-fallback.html']

/**
 * A line where somebody wants a single-page application, or a framework has written one, and no page answers for it:
 * every client route would be a 404.
 */
export function describeMissingFallback({
  appType,
  files,
  fallback,
  index,
  notFound,
  redirects,
  singlePage,
}: Site): string | undefined {
  const shell = shells.find((path) => files.has(path))
  const isWanted =
    fallback === 'spa' || (fallback === undefined && shell !== undefined && notFound === undefined)
  const isRuled = redirects.some(({ status, target }) => status === 200 && target?.isPage === true)
  const hasIndex = index !== undefined && (fallback === 'spa' || appType === 'spa')
  if (!isWanted || isRuled || hasIndex || singlePage !== undefined) return undefined
  const found = shell === undefined ? '' : `, but it has ${shell}`
  return [
    `the build has ${index === undefined ? 'neither 200.html nor index.html' : 'no 200.html'} for unknown pages${found}, so they are a 404;`,
    `name the page by a rule: /* /${shell ?? 'page.html'} 200 in the file _redirects of the build`,
  ].join(' ')
}
