import type { PathPattern } from './path-pattern.ts'

/**
 * An index of patterns by their first and last text. Only patterns that may match are compared with a path.
 */
export interface PatternIndex {
  /** Patterns without variables. */
  readonly exact: ReadonlyMap<string, readonly number[]>
  /** Patterns with variables, grouped by the lengths of their first and last text. */
  readonly groups: readonly PatternGroup[]
}

interface PatternGroup {
  readonly startLength: number
  readonly endLength: number
  readonly byTexts: ReadonlyMap<string, readonly number[]>
}

/** Indexes patterns by their positions in a list. */
export function indexPatterns(patterns: readonly PathPattern[]): PatternIndex {
  const exact = new Map<string, number[]>()
  const groups = new Map<string, { startLength: number; endLength: number; byTexts: Map<string, number[]> }>()
  for (const [place, pattern] of patterns.entries()) {
    const start = pattern[0] ?? ''
    const end = pattern.at(-1) ?? ''
    if (pattern.length === 1) {
      add(exact, start, place)
      continue
    }
    const key = `${start.length} ${end.length}`
    const group = groups.get(key) ?? {
      startLength: start.length,
      endLength: end.length,
      byTexts: new Map<string, number[]>(),
    }
    groups.set(key, group)
    add(group.byTexts, start + end, place)
  }
  return { exact, groups: [...groups.values()] }
}

function add(map: Map<string, number[]>, key: string, place: number): void {
  const places = map.get(key)
  if (places === undefined) map.set(key, [place])
  else places.push(place)
}

/**
 * Returns the sorted positions of the patterns that may match a percent-encoded path. A slash at its end is
 * optional (`/old/*` also matches `/old`).
 */
export function findPlaces({ exact, groups }: PatternIndex, path: string): readonly number[] {
  const found = [...(exact.get(path) ?? [])]
  const withSlash = `${path}/`
  for (const { startLength, endLength, byTexts } of groups) {
    if (startLength > withSlash.length || endLength > path.length) continue
    const texts = withSlash.slice(0, startLength) + path.slice(path.length - endLength)
    for (const place of byTexts.get(texts) ?? []) found.push(place)
  }
  return found.toSorted((one, other) => one - other)
}
