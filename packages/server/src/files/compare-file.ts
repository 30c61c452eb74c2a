import type { BigIntStats } from 'node:fs'
import { digestIfUnchanged } from './digest-file.ts'
import { changeTimeOf, fingerprintOf, type OpenedFile } from './open-regular-file.ts'

/**
 * Results of comparing a file with its expected digest, by digest. A file is read once, in all builds,
 * unless its state changes.
 */
export type DigestComparisons = Map<string, { readonly state: string; readonly isSame: Promise<boolean> }>

/** Returns whether an open file has the expected bytes. */
export async function hasDigest(
  { descriptor, stats }: OpenedFile,
  sha256: string,
  comparisons: DigestComparisons,
): Promise<boolean> {
  const state = stateOf(stats)
  let comparison = comparisons.get(sha256)
  if (comparison?.state !== state) {
    const isSame = digestIfUnchanged(descriptor, stats).then((digest) => digest === sha256)
    // The next call reads the file again after a failure.
    isSame.catch(() => comparisons.delete(sha256))
    comparison = { state, isSame }
    comparisons.set(sha256, comparison)
  }
  return await comparison.isSame
}

/** Records a file whose digest was verified while it was written. */
export function rememberDigest(stats: BigIntStats, sha256: string, comparisons: DigestComparisons): void {
  comparisons.set(sha256, { state: stateOf(stats), isSame: Promise.resolve(true) })
}

function stateOf(stats: BigIntStats): string {
  return `${fingerprintOf(stats)}:${changeTimeOf(stats)}`
}
