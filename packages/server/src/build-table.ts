import type { RedirectRule } from '@serve-dist/manifest'
import { namesOf, redirectedNameOf } from './names-of.ts'
import { matchRedirect, type RedirectPattern, toRedirectPattern } from './redirect-pattern.ts'
import { encodePath } from './request-path.ts'
import type { Redirect, Resource, Site } from './site.ts'

/** What a table is made of. */
export interface TableParts {
  /** Percent-encoded. */
  readonly base: string
  /** By path relative to the build's folder. */
  readonly resources: ReadonlyMap<string, Resource>
  readonly redirects: readonly RedirectRule[]
}

/**
 * The table of known paths, and the patterns for the others. A later name never takes a path from an
 * earlier one: the exact names, then pages, then redirects of our own.
 */
export function buildTable({ base, resources, redirects }: TableParts): Pick<Site, 'table' | 'redirects'> {
  const table = new Map<string, Resource | Redirect>()
  const add = (name: string, entry: Resource | Redirect): void => {
    const path = base + encodePath(name)
    if (!table.has(path)) table.set(path, entry)
  }
  for (const [path, resource] of resources) add(path, resource)
  for (const [path, resource] of resources) {
    for (const name of namesOf(path)) add(name, resource)
  }
  for (const path of resources.keys()) {
    const redirected = redirectedNameOf(path)
    const location = namesOf(path).at(-1)
    if (redirected !== undefined && location !== undefined) {
      add(redirected, { kind: 'redirect', status: 308, location: base + encodePath(location) })
    }
  }
  if (base !== '/') table.set(base.slice(0, -1), { kind: 'redirect', status: 308, location: base })

  const patterns = redirects.map((rule) => toRedirectPattern(rule, table))
  applyToKnownPaths(table, patterns)
  return { table, redirects: patterns }
}

/** A rule outranks redirects of ours, and a file only with `force`. */
function applyToKnownPaths(
  table: Map<string, Resource | Redirect>,
  patterns: readonly RedirectPattern[],
): void {
  for (const [path, entry] of table) {
    const eligible = patterns.filter(({ force }) => force || entry.kind === 'redirect')
    const match = matchRedirect(eligible, path)
    if (match?.status === 404) continue
    if (match?.target !== undefined) table.set(path, match.target)
    else if (match?.location !== undefined && match.location !== path) {
      table.set(path, { kind: 'redirect', status: match.status, location: match.location })
    }
  }
}
