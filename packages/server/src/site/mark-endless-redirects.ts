import { covers, isRewrite, onlyPathOf, pathWithin, type RedirectPattern } from './redirect-pattern.ts'
import type { Entry } from './site.ts'

/** Where browsers give up (Fetch §4.4). */
const mostRedirects = 20

/**
 * Marks each rule of one path that leads back to it: by itself (`/a` to `/a?b`), through other such rules, or
 * by force against a redirect of the build's own (`/docs/` to `/docs`).
 *
 * What a rule of many paths makes of one is not followed: nothing is marked that may end.
 *
 * @param table - without what rules have forced upon it.
 */
export function markEndlessRedirects(
  patterns: readonly RedirectPattern[],
  table: ReadonlyMap<string, Entry>,
): RedirectPattern[] {
  const rules = new Map<string, RedirectPattern>()
  for (const pattern of patterns) {
    const path = onlyPathOf(pattern)
    if (path !== undefined && !rules.has(path)) rules.set(path, pattern)
  }
  const ranks = new Map(patterns.map((pattern, rank) => [pattern, rank]))
  const rankOf = (pattern: RedirectPattern): number => ranks.get(pattern) ?? 0
  const ofManyPaths = patterns.filter((pattern) => onlyPathOf(pattern) === undefined)
  const isOutranked = (path: string, rule?: RedirectPattern): boolean => {
    const mayCount = (each: RedirectPattern): boolean =>
      (each.force || !table.has(path)) && (rule === undefined || rankOf(each) < rankOf(rule))
    return ofManyPaths.some((each) => mayCount(each) && covers(each, path))
  }
  const next = (path: string): string | undefined => {
    const [entry, rule] = [table.get(path), rules.get(path)]
    if (rule !== undefined && (rule.force || entry === undefined)) {
      return isRewrite(rule) || isOutranked(path, rule) ? undefined : pathWithin(rule.to)
    }
    return entry?.kind === 'redirect' && !isOutranked(path) ? pathWithin(entry.location) : undefined
  }
  const leadsBack = (path: string): boolean => {
    let place = next(path)
    for (let count = 1; count < mostRedirects && place !== undefined; count += 1) {
      if (place === path) return true
      place = next(place)
    }
    return false
  }
  return patterns.map((pattern) => {
    const path = onlyPathOf(pattern)
    const isFirst = path !== undefined && rules.get(path) === pattern
    if (!isFirst || isRewrite(pattern) || !leadsBack(path)) return pattern
    // Without it, the others may end.
    rules.delete(path)
    return { ...pattern, isEndless: true }
  })
}
