import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import type { RedirectRule } from '@serve-dist/manifest'
import { pageUrls, redirectedPageUrl } from './page-urls.ts'
import {
  compileRedirects,
  forcedRedirects,
  isProxying,
  matchRedirect,
  type RedirectMatch,
} from './redirects.ts'
import { encodePath } from '../protocol/request-path.ts'
import type { Entry, Redirect, RedirectPattern, Resource, Site } from './site.ts'

/** The input of `buildTable`. */
export interface TableParts {
  /** Percent-encoded. */
  readonly base: string
  /** By path relative to the build's folder. */
  readonly resources: ReadonlyMap<string, Resource>
  readonly redirects: readonly RedirectRule[]
  /** The resources that the server adds to the files of the build. */
  readonly made: readonly Resource[]
  /** The files of earlier builds, the newest first, for paths that the current build lacks. */
  readonly kept: Iterable<KeptPath>
}

/** A path of an earlier build. */
export interface KeptPath {
  /** Percent-encoded. */
  readonly path: string
  readonly make: () => Resource
}

/** The table of known paths, the redirect patterns, and one line for each rule that has no effect. */
export interface BuiltTable extends Pick<Site, 'table' | 'redirects'> {
  readonly problems: readonly string[]
}

/**
 * Creates the table. If several entries have the same path, the first of this order wins: files, pages, the
 * server's own redirects, the server's own resources, files of earlier builds. Rules can target files of
 * earlier builds only by their paths.
 */
export function buildTable({ base, resources, redirects, made, kept }: TableParts): BuiltTable {
  const table = new Map<string, Entry>()
  const add = (name: string, entry: Resource | Redirect): void => {
    const path = base + encodePath(name)
    if (!table.has(path)) table.set(path, entry)
  }
  for (const [path, resource] of resources) add(path, resource)
  const pages: [path: string, name: string][] = []
  for (const [path, resource] of resources) {
    const [, name] = pageUrls(path)
    if (name === undefined) continue
    add(name, resource)
    pages.push([path, name])
  }
  for (const [path, name] of pages) {
    const redirected = redirectedPageUrl(path)
    if (redirected !== undefined) {
      add(redirected, { kind: 'redirect', status: 308, location: base + encodePath(name) })
    }
  }
  if (base !== '/') table.set(base.slice(0, -1), { kind: 'redirect', status: 308, location: base })

  for (const resource of made) add(resource.path, resource)

  const { patterns, problems } = compileRedirects(redirects, table)
  for (const { path, make } of kept) if (!table.has(path)) table.set(path, make())
  const proxied = applyForced(table, forcedRedirects(patterns))
  const hidden = [...proxied].map(
    ([from, paths]) => `the rule ${from} also proxies paths of the build: ${joinFirstNames(paths)}`,
  )
  return { table, redirects: patterns, problems: [...problems, ...hidden] }
}

/**
 * Applies the rules with `force`. Only these replace entries of the table.
 *
 * @returns the paths of files that each rule proxies.
 */
function applyForced(
  table: Map<string, Entry>,
  patterns: readonly RedirectPattern[],
): ReadonlyMap<string, string[]> {
  const proxied = new Map<string, string[]>()
  if (patterns.length === 0) return proxied
  for (const [path, entry] of table) {
    const match = matchRedirect(patterns, path)
    if (match === undefined) continue
    const next = entryFor(match, entry)
    table.set(path, next)
    if (next.kind !== 'proxied' || entry.kind !== 'resource') continue
    const { from } = next.rule
    proxied.set(from, [...(proxied.get(from) ?? []), path])
  }
  return proxied
}

function entryFor({ status, location, target, rule }: RedirectMatch, entry: Entry): Entry {
  if (isProxying(rule)) return { kind: 'proxied', rule }
  if (status === 503) {
    // Open tabs need the hashed assets of their build.
    const isHashed = entry.kind === 'resource' && entry.cacheControl.includes('immutable')
    return isHashed ? entry : { kind: 'hidden', status, page: target }
  }
  if (target === undefined) return { kind: 'redirect', status, location }
  if (status === 404) return { kind: 'hidden', status, page: target }
  // An HTML page may replace another page, never a script, image or other file.
  return target.isPage && entry.kind === 'resource' && !entry.isPage ? entry : target
}
