import type { BigIntStats } from 'node:fs'
import { digestIfUnchanged } from './digest-file.ts'
import { changeTimeOf, fingerprintOf, type OpenedFile } from './open-regular-file.ts'

/**
 * The last state in which a file was compared with the digest that its bytes must have, and whether it had it; by that
 * digest. As long as the state stays, so does the outcome: a file is read once, however often and in how many builds it is
 * served.
 */
export type DigestComparisons = Map<string, { readonly state: string; readonly isSame: Promise<boolean> }>

/** Whether an open file has these bytes. */
export async function hasDigest(
  { descriptor, stats }: OpenedFile,
  sha256: string,
  comparisons: DigestComparisons,
): Promise<boolean> {
  const state = stateOf(stats)
  let comparison = comparisons.get(sha256)
  if (comparison?.state !== state) {
    const isSame = digestIfUnchanged(descriptor, stats).then((digest) => digest === sha256)
    // What could not be read this time is read again the next.
    isSame.catch(() => comparisons.delete(sha256))
    comparison = { state, isSame }
    comparisons.set(sha256, comparison)
  }
  return await comparison.isSame
}

/** Remembers a file whose bytes were compared while they were written. */
export function rememberDigest(stats: BigIntStats, sha256: string, comparisons: DigestComparisons): void {
  comparisons.set(sha256, { state: stateOf(stats), isSame: Promise.resolve(true) })
}

function stateOf(stats: BigIntStats): string {
  return `${fingerprintOf(stats)}:${changeTimeOf(stats)}`
}
