import { median } from '../serve/statistics.ts'

/** The confidence interval of a median. */
export interface Estimate {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Below this number of rounds, a difference of less than 10 % decides nothing. */
const roundsForLittle = 30
const little = 0.1
/** Below this number of rounds, nothing is decided. */
const leastRounds = 5

/**
 * Returns the median and the interval of its order statistics. If there are too few values, the interval spans all of them.
 *
 * @param doubt - the share of intervals that may be wrong.
 */
export function estimateMedian(values: readonly number[], doubt = 0.05): Estimate {
  const sorted = values.toSorted((a, b) => a - b)
  const skipped = skippedRanks(sorted.length, doubt / 2)
  return {
    median: median(sorted),
    low: sorted[skipped] ?? Number.NaN,
    high: sorted.at(-1 - skipped) ?? Number.NaN,
  }
}

/** Returns the largest random distance from 1 of the ratio of a server to itself. */
export function resolutionOf({ low, high }: Estimate): number {
  return Math.max(Math.abs(low - 1), Math.abs(high - 1))
}

/** The verdict of a run on a target. */
export type Verdict = 'met' | 'missed' | 'not measurable here'

/**
 * Judges the shares of the allowed value, one for each round: up to 1, the target is met.
 *
 * @param resolution - the difference of a server from itself, as a share.
 */
export function verdictOf(shares: readonly number[], resolution: number): Verdict {
  const share = median(shares)
  const difference = Math.abs(share - 1)
  const isTooFew = shares.length < leastRounds || (shares.length < roundsForLittle && difference < little)
  if (isTooFew || !(difference > resolution)) return 'not measurable here'
  return share <= 1 ? 'met' : 'missed'
}

/** The numbers of rounds after which a run may end early. They are fixed, because each check may be wrong by chance. */
export const interimRounds: readonly number[] = [10, 15, 20, 25]

/**
 * Tells whether a run may end early: the whole interval is at least 10 % from 1, on one side, and farther than the server
 * is from itself. All checks and the end together are wrong in 5 % of runs (Bonferroni).
 */
export function isSettled(shares: readonly number[], resolution: number): boolean {
  if (!interimRounds.includes(shares.length)) return false
  const { low, high } = estimateMedian(shares, 0.05 / (interimRounds.length + 1))
  const nearest = low > 1 ? low - 1 : 1 - high
  return nearest >= little && nearest > resolution
}

/** Returns the number of sorted values at each end that are outside of the interval (the tail of the binomial). */
function skippedRanks(count: number, most: number): number {
  let probability = 0.5 ** count
  let tail = probability
  let skipped = 0
  while (tail <= most) {
    skipped += 1
    probability *= (count - skipped + 1) / skipped
    tail += probability
  }
  // An interval that begins at the k-th lowest value excludes k - 1 values.
  return Math.max(0, skipped - 1)
}
