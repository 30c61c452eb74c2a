import type { RedirectRule } from '@serve-dist/manifest'
import { pageUrls, redirectedPageUrl } from './page-urls.ts'
import { compileRedirects, forcedRedirects, matchRedirect, type RedirectMatch } from './redirects.ts'
import { encodePath } from '../protocol/request-path.ts'
import type { Entry, Redirect, RedirectPattern, Resource, Site } from './site.ts'

/** The input of `buildTable`. */
export interface TableParts {
  /** Percent-encoded. */
  readonly base: string
  /** By path relative to the build's folder. */
  readonly resources: ReadonlyMap<string, Resource>
  readonly redirects: readonly RedirectRule[]
  /** The resource that the server adds to the files of the build. */
  readonly made: Resource
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
 * server's own redirects, the server's own resource, files of earlier builds. Rules can target files of
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

  add(made.path, made)

  const { patterns, problems } = compileRedirects(redirects, table)
  for (const { path, make } of kept) if (!table.has(path)) table.set(path, make())
  applyForced(table, forcedRedirects(patterns))
  return { table, redirects: patterns, problems }
}

/** Applies the rules with `force`. Only these replace entries of the table. */
function applyForced(table: Map<string, Entry>, patterns: readonly RedirectPattern[]): void {
  if (patterns.length === 0) return
  for (const [path, entry] of table) {
    const match = matchRedirect(patterns, path)
    if (match !== undefined) table.set(path, entryFor(match, entry))
  }
}

function entryFor({ status, location, target }: RedirectMatch, entry: Entry): Entry {
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
