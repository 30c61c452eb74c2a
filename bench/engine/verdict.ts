import { median } from '../serve/statistics.ts'

/** What the median of all rounds there could be is, with a certainty. */
export interface Estimate {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Below so many rounds, a difference of less than 10 % decides nothing. */
const roundsForLittle = 30
const little = 0.1
/** And below so many, nothing does. */
const leastRounds = 5

/**
 * A median of rounds and the interval of its order statistics; of too few rounds for it, all values.
 *
 * @param doubt - how often the interval may be wrong: by default 5 %.
 */
export function estimate(values: readonly number[], doubt = 0.05): Estimate {
  const sorted = values.toSorted((a, b) => a - b)
  const skipped = skippedRanks(sorted.length, doubt / 2)
  return {
    median: median(sorted),
    low: sorted[skipped] ?? Number.NaN,
    high: sorted.at(-1 - skipped) ?? Number.NaN,
  }
}

/** How far from 1 a ratio may be though nothing differs: as far as a server's beside itself reaches. */
export function resolutionOf({ low, high }: Estimate): number {
  return Math.max(Math.abs(low - 1), Math.abs(high - 1))
}

/** What a run says of a target. */
export type Verdict = 'met' | 'missed' | 'not measurable here'

/**
 * Judges shares of what a target allows, one a round: up to 1 it is met.
 *
 * @param resolution - as a share: what a server differs from itself.
 */
export function verdictOf(shares: readonly number[], resolution: number): Verdict {
  const share = median(shares)
  const difference = Math.abs(share - 1)
  const isTooFew = shares.length < leastRounds || (shares.length < roundsForLittle && difference < little)
  if (isTooFew || !(difference > resolution)) return 'not measurable here'
  return share <= 1 ? 'met' : 'missed'
}

/** After how many rounds a run may end early; chosen beforehand, because each look is one more chance to be wrong. */
export const looks: readonly number[] = [10, 15, 20, 25]

/**
 * Whether further rounds would change nothing: all of the interval is 10 % or more from 1, on one side, and farther
 * than the server is from itself. The doubt is shared by the looks and the end (Bonferroni): 5 % in all.
 */
export function isSettled(shares: readonly number[], resolution: number): boolean {
  if (!looks.includes(shares.length)) return false
  const { low, high } = estimate(shares, 0.05 / (looks.length + 1))
  const nearest = low > 1 ? low - 1 : 1 - high
  return nearest >= little && nearest > resolution
}

/** Of so many values in order, how many at each end lie outside of the interval: those of the binomial's tail. */
function skippedRanks(count: number, most: number): number {
  let probability = 0.5 ** count
  let tail = probability
  let skipped = 0
  while (tail <= most) {
    skipped += 1
    probability *= (count - skipped + 1) / skipped
    tail += probability
  }
  // The interval from the k-th lowest value leaves out k - 1 of them.
  return Math.max(0, skipped - 1)
}
