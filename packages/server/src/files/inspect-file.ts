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

/** A file or a variant of the manifest. */
export interface ExpectedFile {
  readonly path: string
  readonly size: number
  readonly sha256: string
  readonly entry: ManifestEntry
}

/** Options of `inspectFile`. */
export interface FileInspection {
  /** The real path of the folder that must contain the file. */
  readonly root: string
  readonly opener: FolderOpener
  readonly verify: Verification
  /** Digests of earlier inspections. */
  readonly known: KnownDigests
  /** Receives the digest of this file. */
  readonly digests: KnownDigests
  /** Whether the file stays open. */
  readonly isKept: boolean
}

/**
 * The check of files that are not held in memory: their sizes, the digests of changed files, or all
 * digests.
 */
export type Verification = 'size' | 'changed' | 'hash'

/** The digests of unchanged files, by their fingerprints and change times. */
export type KnownDigests = Map<string, KnownDigest>

interface KnownDigest {
  readonly sha256: string
  /** Whether the digest comes from reading the bytes and not from a manifest. */
  readonly isRead: boolean
}

/** A difference between a file and the manifest. */
export class FileMismatchError extends Error {
  override readonly name = 'Mismatch'
}

/**
 * Compares a streamed file with the manifest. The calls are synchronous because waiting would take longer
 * than the calls themselves.
 *
 * @throws FileMismatchError, NotRegularError, or the system's own error.
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
    // Closing a file that was only read cannot fail in a way that the operator could fix.
    if (isKept) keepFileOpen(stored, descriptor, () => void closeDescriptor(descriptor).catch(() => {}))
    isLeftOpen = isKept
    return stored
  } finally {
    if (!isLeftOpen) closeSync(descriptor)
  }
}

/**
 * @throws FileMismatchError for a link to a path outside the folder, which the manifest cannot describe.
 */
export function expectInside(root: string, path: string | undefined): void {
  if (path?.startsWith(root + sep) !== true)
    throw new FileMismatchError(
      'is outside the folder, because the file or a folder in its path is a symlink',
    )
}

/** Returns the digest of a file that need not be read again. */
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

/** @throws FileMismatchError, NotRegularError, or the system's own error. */
export function expectSize(descriptor: number, size: number): BigIntStats {
  const stats = fstatSync(descriptor, { bigint: true })
  expectRegular(stats)
  if (stats.size !== BigInt(size)) {
    throw new FileMismatchError(`has ${stats.size} bytes, the manifest says ${size}`)
  }
  return stats
}

/** @throws FileMismatchError if the digests differ. */
export function expectDigest(found: string, expected: string): void {
  if (found !== expected)
    throw new FileMismatchError('has other bytes than the manifest says (SHA-256 differs)')
}
