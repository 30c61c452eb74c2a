// The findings of `serve-dist check`, for a folder and for a site.

export interface Finding {
  /** Stable across releases; `docs/check.md` has a row for each code. */
  readonly code: string
  readonly level: 'error' | 'warning'
  /** The fault, its cost and the fix, each in one sentence. */
  readonly text: string
  readonly paths: readonly string[]
}

export interface CheckReport {
  readonly target: string
  /** Why the check could not finish. Then there are no findings. */
  readonly stopped?: string
  readonly findings: readonly Finding[]
  /** The aspects without a finding. */
  readonly right: readonly string[]
}

/** Sorts errors before warnings and keeps the order within each level. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => Number(a.level === 'warning') - Number(b.level === 'warning'))
}

export function formatNames(names: readonly string[], most = 2): string {
  const left = names.length - most
  if (left > 0) return `${names.slice(0, most).join(', ')} and ${left} more`
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((part) => part !== '').join(' and ')
}
