import { median } from '../serve/statistics.ts'

/** What the median of all rounds there could be is, with a certainty of 95 %. */
export interface Estimate {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Below so many rounds, a difference of less than 10 % decides nothing. */
const roundsForLittle = 30
/** And below so many, nothing does. */
const leastRounds = 5

/** A median of rounds and the interval of its order statistics; of five rounds or fewer, all values. */
export function estimate(values: readonly number[]): Estimate {
  const sorted = values.toSorted((a, b) => a - b)
  const skipped = skippedRanks(sorted.length)
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

/** What is to be judged. */
export interface Judged {
  readonly atMost: number
  /** How many values there are. */
  readonly rounds: number
  /** As a share: what a server differs from itself. */
  readonly resolution: number
}

/** Judges a median by what its target is, where the run can tell the two apart. */
export function verdictOf(value: number, { atMost, rounds, resolution }: Judged): Verdict {
  const difference = Math.abs(value / atMost - 1)
  const isTooFew = rounds < leastRounds || (rounds < roundsForLittle && difference < 0.1)
  if (isTooFew || !(difference > resolution)) return 'not measurable here'
  return value <= atMost ? 'met' : 'missed'
}

/** Of so many values in order, how many at each end lie outside of the interval: those of the binomial's 2.5 %. */
function skippedRanks(count: number): number {
  let probability = 0.5 ** count
  let tail = probability
  let skipped = 0
  while (tail <= 0.025) {
    skipped += 1
    probability *= (count - skipped + 1) / skipped
    tail += probability
  }
  // The interval from the k-th lowest value leaves out k - 1 of them.
  return Math.max(0, skipped - 1)
}
