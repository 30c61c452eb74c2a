import { mayStandInFor } from './build-table.ts'
import { isRewrite, onlyPathOf, type RedirectPattern } from './redirect-pattern.ts'
import type { Entry, Site } from './site.ts'

/** One line for each redirect rule of a site that can never count, with the reason. */
export function idleRedirects({ table, redirects }: Pick<Site, 'table' | 'redirects'>): string[] {
  return redirects.flatMap((pattern) => {
    const reason = reasonToBeIdle(pattern, table)
    return reason === undefined ? [] : [`the redirect of ${pattern.from} never counts: ${reason}`]
  })
}

function reasonToBeIdle(pattern: RedirectPattern, table: ReadonlyMap<string, Entry>): string | undefined {
  const { to, status, force, target, isEndless } = pattern
  if (isEndless) return `${to} leads back to it, without an end`
  if (isRewrite(pattern) && target === undefined)
    return `the build has no file ${to} to answer ${status} with`
  const path = onlyPathOf(pattern)
  const entry = path === undefined ? undefined : table.get(path)
  if (entry === undefined) return undefined
  if (!force) return 'the build answers that path itself, which only force outranks'
  if (status === 200 && target !== undefined && !mayStandInFor(target, entry))
    return `${to} is a page, and a page stands in for pages alone`
  return undefined
}
