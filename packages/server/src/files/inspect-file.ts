import { type BigIntStats, closeSync, fstatSync, openSync } from 'node:fs'
import { digestFile } from './digest-file.ts'
import { keepFile } from './kept-file.ts'
import { closeDescriptor, expectRegular, fingerprintOf, readingFlags } from './open-regular-file.ts'
import type { ManifestEntry, StoredBytes } from '../site/site.ts'

/** A file or a variant, as the manifest tells of it. */
export interface ExpectedFile {
  readonly path: string
  readonly size: number
  readonly sha256: string
  readonly entry: ManifestEntry
}

/** What becomes of a file besides a look at its existence and size. */
export interface FileInspection {
  /** Whether its digest is compared. */
  readonly isHashed: boolean
  /** Whether it stays open. */
  readonly isKept: boolean
}

/** A file that is not what the manifest says. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch'
}

/**
 * Compares a streamed file with what the manifest says. The calls do not wait: for a file of a build that
 * takes longer than what they do.
 *
 * @throws Mismatch, NotRegularError, or the system's own error.
 */
export async function inspectFile(
  file: string,
  { size, sha256 }: ExpectedFile,
  { isHashed, isKept }: FileInspection,
): Promise<StoredBytes> {
  const descriptor = openSync(file, readingFlags)
  let isLeftOpen = false
  try {
    const stats = expectSize(descriptor, size)
    if (isHashed) expectDigest(await digestFile(descriptor, size), sha256)
    const stored: StoredBytes = { size, body: undefined, file, fingerprint: fingerprintOf(stats) }
    // Closing a file that was only read has nothing left to fail that anybody could mend.
    if (isKept) keepFile(stored, descriptor, () => void closeDescriptor(descriptor).catch(() => {}))
    isLeftOpen = isKept
    return stored
  } finally {
    if (!isLeftOpen) closeSync(descriptor)
  }
}

/** @throws Mismatch, NotRegularError, or the system's own error. */
export function expectSize(descriptor: number, size: number): BigIntStats {
  const stats = fstatSync(descriptor, { bigint: true })
  expectRegular(stats)
  if (stats.size !== BigInt(size)) {
    throw new Mismatch(`has ${stats.size} bytes, the manifest says ${size}`)
  }
  return stats
}

/** @throws Mismatch when the digests differ. */
export function expectDigest(found: string, expected: string): void {
  if (found !== expected) throw new Mismatch('has other bytes than the manifest says (SHA-256 differs)')
}
