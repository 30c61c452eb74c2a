import { mayStandInFor } from './build-table.ts'
import type { RedirectPattern } from './redirect-pattern.ts'
import type { Entry, Site } from './site.ts'

/** One line for each redirect rule of a site that can never count, with the reason. */
export function idleRedirects({ table, redirects }: Pick<Site, 'table' | 'redirects'>): string[] {
  return redirects.flatMap((pattern) => {
    const reason = reasonToBeIdle(pattern, table)
    return reason === undefined ? [] : [`the redirect of ${pattern.from} never counts: ${reason}`]
  })
}

function reasonToBeIdle(
  { segments, hasSplat, to, status, force, target }: RedirectPattern,
  table: ReadonlyMap<string, Entry>,
): string | undefined {
  if ((status === 200 || status === 404) && target === undefined)
    return `the build has no file ${to} to answer ${status} with`
  const isOnePath = !hasSplat && segments.every((parts) => parts.length === 1)
  const entry = isOnePath ? table.get(`/${segments.flat().join('/')}`) : undefined
  if (entry === undefined) return undefined
  if (!force) return 'the build answers that path itself, which only force outranks'
  if (status === 200 && target !== undefined && !mayStandInFor(target, entry))
    return `${to} is a page, and a page stands in for pages alone`
  return undefined
}
