import { bySizeColumn, type BySizeColumn, type Sizes } from '../builds/sizes.ts'

/** What a change means for who downloads it. */
export type Verdict = 'same' | 'noise' | 'smaller' | 'larger'

/** A size in two builds. */
export interface SizeChange {
  /** In bytes; 0 where the earlier build has no such file. */
  readonly before: number
  /** In bytes; 0 where the later build has no such file. */
  readonly after: number
  readonly bytes: number
  /** `undefined` where there was nothing before. */
  readonly percent: number | undefined
  readonly verdict: Verdict
}

/** Sizes in two builds, weighed in every way. */
export type SizeChanges = BySizeColumn<SizeChange>

/** A change is noise when it stays below both; where the file itself is as long as before, below `bytes`. */
export interface Noise {
  readonly percent: number
  readonly bytes: number
}

/** Below 0.1 % and 64 bytes. */
export const defaultNoise: Noise = { percent: 0.1, bytes: 64 }

/** Compares sizes, calling small changes noise. */
export function compareSizes(before: Sizes, after: Sizes, noise: Noise): SizeChanges {
  // Another hash in an import leaves the length as it was, and moves small variants by whole percents.
  const isAsLong = before.identity === after.identity && noise.percent > 0
  const limits = isAsLong ? { ...noise, percent: Number.POSITIVE_INFINITY } : noise
  return bySizeColumn((column) => compareSize(before[column], after[column], limits))
}

function compareSize(before: number, after: number, noise: Noise): SizeChange {
  const bytes = after - before
  const percent = before === 0 ? undefined : (bytes / before) * 100
  return { before, after, bytes, percent, verdict: verdictOf(bytes, percent, noise) }
}

function verdictOf(bytes: number, percent: number | undefined, noise: Noise): Verdict {
  if (bytes === 0) return 'same'
  // A file that appears or vanishes is never noise, however small.
  if (percent === undefined || percent === -100) return bytes > 0 ? 'larger' : 'smaller'
  if (Math.abs(percent) < noise.percent && Math.abs(bytes) < noise.bytes) return 'noise'
  return bytes > 0 ? 'larger' : 'smaller'
}
