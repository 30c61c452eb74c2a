import { posix } from 'node:path'
import { servedBase } from '@serve-dist/manifest'
import type { ResolvedConfig } from 'vite'

/** The part of Vite's configuration that decides the URLs of files. */
export interface UrlRules {
  readonly base: string
  readonly experimental: Pick<ResolvedConfig['experimental'], 'renderBuiltUrl'>
}

/** Returns whether a URL contains a host, which may serve another stage than the page's host. */
export function isForeign(url: string): boolean {
  return /^(?:[a-z][\d+.a-z-]*:)?\/\//i.test(url)
}

/**
 * Returns the URL by which a chunk imports the environment module. If the base contains a host, the URL is on that
 * host, and an import map redirects it to the page's host.
 *
 * @param chunk - the chunk's file, relative to the build's folder, like `path`.
 */
export function importedUrl({ base, experimental }: UrlRules, path: string, chunk: string): string {
  const render = (hostType: 'js' | 'html', hostId: string) =>
    experimental.renderBuiltUrl?.(path, { type: 'asset', hostId, hostType, ssr: false })
  const rendered = render('js', chunk)
  if (typeof rendered === 'string') return rendered
  // If pages load files from another host, chunks are also there.
  const onPages = render('html', 'index.html')
  if (typeof onPages === 'string' && isForeign(onPages)) return onPages
  // An import cannot contain an expression. Chunks also import each other by relative URLs.
  const isRelative = rendered?.relative === true || rendered?.runtime !== undefined || !/^\/|:/.test(base)
  // Vite encodes its base, except for single quotes.
  return isRelative ? relativeUrl(path, chunk) : base.replaceAll("'", '%27') + path
}

/**
 * Returns the name of the module among the imports of a chunk. Vite preloads files of that name with the chunk, but not
 * URLs of another host.
 */
export function nameInBundle(rules: UrlRules, path: string): string {
  const url = importedUrl(rules, path, '')
  return isForeign(url) ? url : path
}

/** Returns the URL by which a page loads the same module from its own host. */
export function pageUrl(rules: UrlRules, path: string, page: string): string {
  const url = importedUrl(rules, path, page)
  return isForeign(url) ? servedBase(rules.base) + path : url
}

function relativeUrl(path: string, from: string): string {
  const way = posix.relative(posix.dirname(from), path)
  return way.startsWith('../') ? way : `./${way}`
}
