import { closeSync, fstatSync, openSync } from 'node:fs'
import { sep } from 'node:path'
import { digestFile } from './digest-file.ts'
import { fingerprintOf } from './file-fingerprint.ts'
import { keepFile } from './kept-file.ts'
import { expectRegular, readingFlags } from './open-regular-file.ts'
import type { StoredBytes } from './site.ts'

/** A file or a variant, as the manifest tells of it. */
export interface ExpectedFile {
  readonly path: string
  readonly size: number
  readonly sha256: string
}

/** What becomes of a file besides a look at its existence and size. */
export interface FileInspection {
  /** Whether its digest is compared; that of a body that is held always is. */
  readonly isHashed: boolean
  /** Whether it stays open. */
  readonly isKept: boolean
  /** Finds room for a body that is to be held. */
  readonly allocate: ((size: number) => Uint8Array<ArrayBuffer>) | undefined
}

/** A file that is not what the manifest says. */
export class Mismatch extends Error {
  override readonly name = 'Mismatch'
}

/**
 * Compares a file with what the manifest says. The calls do not wait: for a file of a build that takes
 * longer than what they do.
 *
 * @throws Mismatch, NotRegularError, or the system's own error.
 */
export async function inspectFile(
  root: string,
  { path, size, sha256 }: ExpectedFile,
  { isHashed, isKept, allocate }: FileInspection,
): Promise<StoredBytes> {
  // Both are normal already; `join` would look at each character of 10,000 paths.
  const file = root + sep + (sep === '/' ? path : path.replaceAll('/', sep))
  const descriptor = openSync(file, readingFlags)
  let isLeftOpen = false
  try {
    const stats = fstatSync(descriptor, { bigint: true })
    expectRegular(stats)
    if (stats.size !== BigInt(size)) {
      throw new Mismatch(`has ${stats.size} bytes, the manifest says ${size}`)
    }
    const body = allocate?.(size)
    if (body !== undefined || isHashed) {
      const digest = digestFile(descriptor, size, body)
      if ((typeof digest === 'string' ? digest : await digest) !== sha256) {
        throw new Mismatch('has other bytes than the manifest says (SHA-256 differs)')
      }
    }
    isLeftOpen = isKept
    const kept = isKept ? keepFile(descriptor) : undefined
    return { file, size, fingerprint: fingerprintOf(stats), body, kept }
  } finally {
    if (!isLeftOpen) closeSync(descriptor)
  }
}
