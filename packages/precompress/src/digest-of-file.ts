import { createHash } from 'node:crypto'
import { closeSync, constants, lstatSync, openSync, readSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { digestOf } from './digest-of.ts'

/** What every file is read into. */
const piece = Buffer.alloc(256 * 1024)

/**
 * The SHA-256 of a regular file, in lower-case hexadecimal; none where there is no such file, or one that cannot be
 * read. Without Node's pool, as in `describe-file.ts`; between pieces of a large file others get their turn.
 */
export async function digestOfFile(path: string): Promise<string | undefined> {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined
    // A FIFO that took its place meanwhile must not hold up the whole process.
    const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
    try {
      return await digestOfRest(descriptor)
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
