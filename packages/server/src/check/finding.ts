// What `serve-dist check` says, of a folder and of a site alike.

/** Something that is wrong. */
export interface Finding {
  /** Stable across releases; docs/check.md has a row for each. */
  readonly code: string
  readonly level: 'error' | 'warning'
  /** One sentence: what, what it costs, and where it is mended. */
  readonly text: string
  /** Paths of the folder or of the site that it is about. */
  readonly paths: readonly string[]
}

/** One report. */
export interface CheckReport {
  /** The folder or the address. */
  readonly target: string
  /** Why nothing can be said; then there are no findings. */
  readonly stopped?: string
  /** Errors first. */
  readonly findings: readonly Finding[]
  /** What was looked at without a finding. */
  readonly right: readonly string[]
}

/** Errors first, each kind in the order in which it was found. */
export function sortFindings(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => Number(a.level === 'warning') - Number(b.level === 'warning'))
}

/** The first names of several, and how many more there are. */
export function formatNames(names: readonly string[], most = 2): string {
  const left = names.length - most
  if (left > 0) return `${names.slice(0, most).join(', ')} and ${left} more`
  return [names.slice(0, -1).join(', '), ...names.slice(-1)].filter((part) => part !== '').join(' and ')
}
