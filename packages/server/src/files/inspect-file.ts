import { type BigIntStats, closeSync, fstatSync } from 'node:fs'
import { sep } from 'node:path'
import { digestIfUnchanged } from './digest-file.ts'
import { keepFileOpen } from './kept-file.ts'
import type { FolderOpener } from './open-inside.ts'
import {
  changeTimeOf,
  closeDescriptor,
  expectRegular,
  fingerprintOf,
  type OpenedFile,
  realPathOf,
} from './open-regular-file.ts'
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
  /** The real path of the folder that it must lie in. */
  readonly root: string
  readonly opener: FolderOpener
  readonly verify: Verification
  /** Those of earlier looks. */
  readonly known: KnownDigests
  /** Takes that of this file. */
  readonly digests: KnownDigests
  /** Whether it stays open. */
  readonly isKept: boolean
}

/**
 * What is compared of files that are not held: their sizes, the digests of those too of which no digest is known, or the
 * digests of all.
 */
export type Verification = 'size' | 'changed' | 'hash'

/** The digests of files that nobody has written to since, by their fingerprints and times of change. */
export type KnownDigests = Map<string, KnownDigest>

interface KnownDigest {
  readonly sha256: string
  /** Whether the bytes were read, and not only a manifest was believed. */
  readonly isRead: boolean
}

/** A file that is not what the manifest says. */
export class FileMismatchError extends Error {
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
  inspection: FileInspection,
): Promise<StoredBytes> {
  const { root, opener, isKept } = inspection
  const { descriptor, isInside } = opener.open(file)
  let isLeftOpen = false
  try {
    const stats = expectSize(descriptor, size)
    const opened = { descriptor, stats }
    if (!isInside) expectInside(root, await realPathOf(opened, file))
    const stored: StoredBytes = {
      size,
      body: undefined,
      file,
      fingerprint: fingerprintOf(stats),
      changeTime: changeTimeOf(stats),
      sha256,
    }
    const state = `${stored.fingerprint}:${stored.changeTime}`
    const found = knownDigestOf(state, sha256, inspection) ?? (await readDigest(opened))
    inspection.digests.set(state, found)
    expectDigest(found.sha256, sha256)
    // Closing a file that was only read has nothing left to fail that anybody could mend.
    if (isKept) keepFileOpen(stored, descriptor, () => void closeDescriptor(descriptor).catch(() => {}))
    isLeftOpen = isKept
    return stored
  } finally {
    if (!isLeftOpen) closeSync(descriptor)
  }
}

/** @throws Mismatch for what a link leads to that is not in the folder: it was not there when the folder was described. */
export function expectInside(root: string, path: string | undefined): void {
  if (path?.startsWith(root + sep) !== true)
    throw new FileMismatchError('is a link that leads out of the folder')
}

/** The digest of a file whose bytes need not be read. */
function knownDigestOf(
  state: string,
  sha256: string,
  { verify, known }: FileInspection,
): KnownDigest | undefined {
  if (verify === 'size') return { sha256, isRead: false }
  const before = known.get(state)
  const isKnown = before !== undefined && (before.isRead || before.sha256 === sha256)
  return verify === 'changed' && isKnown ? before : undefined
}

async function readDigest({ descriptor, stats }: OpenedFile): Promise<KnownDigest> {
  const read = await digestIfUnchanged(descriptor, stats)
  if (read === undefined) throw new FileMismatchError('is being written')
  return { sha256: read, isRead: true }
}

/** @throws Mismatch, NotRegularError, or the system's own error. */
export function expectSize(descriptor: number, size: number): BigIntStats {
  const stats = fstatSync(descriptor, { bigint: true })
  expectRegular(stats)
  if (stats.size !== BigInt(size)) {
    throw new FileMismatchError(`has ${stats.size} bytes, the manifest says ${size}`)
  }
  return stats
}

/** @throws Mismatch when the digests differ. */
export function expectDigest(found: string, expected: string): void {
  if (found !== expected)
    throw new FileMismatchError('has other bytes than the manifest says (SHA-256 differs)')
}
