import type { Site } from './site.ts'

/** The single-page-application shells of TanStack Start and React Router. */
const shells = ['_shell.html', '__spa-fallback.html']

/**
 * Returns a warning if the site is a single-page application but no page answers for client routes. Every
 * client route would return 404.
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
    `unknown pages return 404 because the build has ${index === undefined ? 'neither 200.html nor index.html' : 'no 200.html'}${found}.`,
    `Add this rule to the file _redirects of the build: /* /${shell ?? 'page.html'} 200`,
  ].join(' ')
}
