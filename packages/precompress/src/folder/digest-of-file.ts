import { createHash } from 'node:crypto'
import { closeSync, constants, lstatSync, openSync, readSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { digestOf } from './digest-of.ts'
import { stampOf } from './stamp-of.ts'

/** What one read of a file found. */
export interface FileDigest {
  /** Lower-case hexadecimal. */
  readonly sha256: string
  /** Another one where the file may have been written since. */
  readonly stamp: string
}

/** What every file is read into. */
const piece = Buffer.alloc(256 * 1024)

/**
 * The SHA-256 of a regular file; none where there is no such file, or one that cannot be
 * read. Without Node's pool, as in `describe-file.ts`; between pieces of a large file others get their turn.
 */
export async function digestOfFile(path: string): Promise<FileDigest | undefined> {
  try {
    const found = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    if (found?.isFile() !== true) return undefined
    // A FIFO that took its place meanwhile must not hold up the whole process.
    const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      return { sha256: await digestOfRest(descriptor), stamp: stampOf(found) }
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return undefined
  }
}

async function digestOfRest(descriptor: number): Promise<string> {
  let length = readSync(descriptor, piece)
  const more = readSync(descriptor, piece, length, piece.length - length, null)
  if (more === 0 && length < piece.length) return digestOf(piece.subarray(0, length))
  const sha256 = createHash('sha256')
  for (length += more; length > 0; length = readSync(descriptor, piece)) {
    sha256.update(piece.subarray(0, length))
    await nextTurn()
  }
  return sha256.digest('hex')
}
