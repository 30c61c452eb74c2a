import { countState } from './changed-files.ts'
import type { BuildComparison } from './compare-builds.ts'
import { formatByteChange, formatCount, formatKilobytes, formatPercent } from '../builds/format-bytes.ts'
import type { SizeChange } from './size-change.ts'

/** What two builds differ in, in a sentence each. */
export interface ComparisonSummary {
  /** `sent by default: 212.40 kB, +1.20 kB (+0.6 %)` */
  readonly weight: string
  /** `2 files changed, 1 new, 1 removed; 12 the same, 3 noise (below 64 B, and below 0.1 % or of the same length)` */
  readonly files: string
}

/** Says in two sentences what changed. */
export function summarizeComparison(comparison: BuildComparison): ComparisonSummary {
  const { noise, totals } = comparison
  const { sent } = totals.total
  const count = (state: Parameters<typeof countState>[1]): number => countState(comparison, state)
  const others = [
    `${count('same')} the same`,
    ...(count('noise') > 0
      ? [
          `${count('noise')} noise (below ${noise.bytes} B, and below ${noise.percent} % or of the same length)`,
        ]
      : []),
  ]
  return {
    weight: `sent by default: ${formatKilobytes(sent.after)}, ${formatChange(sent)}`,
    files: `${formatCount(count('changed'), 'file')} changed, ${count('new')} new, ${count('removed')} removed; ${others.join(', ')}`,
  }
}

/** A change in bytes and percent: `+1.20 kB (+1.2 %)`, or `no change`. */
export function formatChange({ bytes, percent }: SizeChange): string {
  if (bytes === 0) return 'no change'
  return formatByteChange(bytes) + (percent === undefined ? '' : ` (${formatPercent(percent)})`)
}
