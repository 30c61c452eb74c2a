import { posix } from 'node:path'
import { servedBase } from '@serve-dist/manifest'
import type { ResolvedConfig } from 'vite'

/** The part of Vite's configuration that decides what the files of a build are called in it. */
export interface UrlRules {
  readonly base: string
  readonly experimental: Pick<ResolvedConfig['experimental'], 'renderBuiltUrl'>
}

/** Whether a URL names its host: another stage than the one that the page is on. */
export function isForeign(url: string): boolean {
  return /^(?:[a-z][\d+.a-z-]*:)?\/\//i.test(url)
}

/**
 * What a chunk writes to import the module of the environment. Where the base names a host, this is the URL on that host,
 * for an import map to point to the page's own.
 *
 * @param chunk - the chunk's file, relative to the build's folder, as `path` is.
 */
export function importedUrl({ base, experimental }: UrlRules, path: string, chunk: string): string {
  const render = (hostType: 'js' | 'html', hostId: string) =>
    experimental.renderBuiltUrl?.(path, { type: 'asset', hostId, hostType, ssr: false })
  const rendered = render('js', chunk)
  if (typeof rendered === 'string') return rendered
  // Where pages load files from another host, chunks lie there as well.
  const onPages = render('html', 'index.html')
  if (typeof onPages === 'string' && isForeign(onPages)) return onPages
  // An expression can be no part of an import; chunks import each other by relative URLs as well.
  const isRelative = rendered?.relative === true || rendered?.runtime !== undefined || !/^\/|:/.test(base)
  // Vite encodes its base, but for this quote.
  return isRelative ? relativeUrl(path, chunk) : base.replaceAll("'", '%27') + path
}

/**
 * What the bundle calls the module among the imports of a chunk: its file, which Vite preloads with the chunk; on another
 * host it is not to be preloaded from there.
 */
export function nameInBundle(rules: UrlRules, path: string): string {
  const url = importedUrl(rules, path, '')
  return isForeign(url) ? url : path
}

/** What a page writes to load the very same module from its own host. */
export function pageUrl(rules: UrlRules, path: string, page: string): string {
  const url = importedUrl(rules, path, page)
  return isForeign(url) ? servedBase(rules.base) + path : url
}

function relativeUrl(path: string, from: string): string {
  const way = posix.relative(posix.dirname(from), path)
  return way.startsWith('../') ? way : `./${way}`
}
