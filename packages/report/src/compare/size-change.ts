import { bySizeColumn, type BySizeColumn, type Sizes } from '../builds/sizes.ts'

/** The effect of a change on the download. */
export type Verdict = 'same' | 'noise' | 'smaller' | 'larger'

/** A size in two builds. */
export interface SizeChange {
  /** The number of bytes in the earlier build, or 0 if it does not have the file. */
  readonly before: number
  /** The number of bytes in the later build, or 0 if it does not have the file. */
  readonly after: number
  readonly bytes: number
  /** The change in percent, or `undefined` if the earlier size is 0. */
  readonly percent: number | undefined
  readonly verdict: Verdict
}

/** The changes of all kinds of sizes. */
export type SizeChanges = BySizeColumn<SizeChange>

/**
 * The limits of noise. A change is noise if it is below both. If the uncompressed length is unchanged, only `bytes`
 * counts.
 */
export interface Noise {
  readonly percent: number
  readonly bytes: number
}

/** The default limits: 0.1 % and 64 bytes. */
export const defaultNoise: Noise = { percent: 0.1, bytes: 64 }

/** Compares sizes and marks small changes as noise. */
export function compareSizes(before: Sizes, after: Sizes, noise: Noise): SizeChanges {
  // A new hash in an import keeps the length, but changes small variants by several percent.
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
  if (percent === undefined || percent === -100) return bytes > 0 ? 'larger' : 'smaller'
  if (Math.abs(percent) < noise.percent && Math.abs(bytes) < noise.bytes) return 'noise'
  return bytes > 0 ? 'larger' : 'smaller'
}
