import { createHash } from 'node:crypto'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { mediaTypeOf } from '@serve-dist/manifest'

/** The result of one read of a file. */
export interface FileDigest {
  /** Lower-case hexadecimal. */
  readonly sha256: string
  /** A value that changes if another program writes to the file. */
  readonly stamp: string
}

/** A file as the manifest describes it. */
export interface DescribedFile extends FileDigest {
  readonly path: string
  readonly mediaType: string
  /** In bytes. */
  readonly size: number
}

/** A described file and the bytes that were described. */
export interface LoadedFile extends DescribedFile {
  readonly bytes: Uint8Array
}

/** Length of a piece in bytes. Reading yields to the event loop between pieces. */
const pieceLength = 1024 * 1024

/** Returns the identity, times and size of a file. Programs cannot set the change time (`ctime`). */
export function stampOf({ dev, ino, mtimeNs, ctimeNs, size }: BigIntStats): string {
  return `${dev} ${ino} ${mtimeNs} ${ctimeNs} ${size}`
}

/** Describes a file, reading it in pieces to limit the memory. */
export async function describeFile(folder: string, path: string): Promise<DescribedFile> {
  return { ...(await readOnce(join(folder, path), digestOfContent)), path, mediaType: mediaTypeOf(path) }
}

/** Reads a whole file, so that the encoded bytes are the digested bytes. */
export async function loadFile(folder: string, path: string): Promise<LoadedFile> {
  const found = await readOnce(join(folder, path), async (descriptor, size) => {
    const bytes = new Uint8Array(size)
    await readFully(descriptor, bytes)
    return { sha256: sha256Of(bytes), bytes }
  })
  return { ...found, path, mediaType: mediaTypeOf(path) }
}

/** Returns the bytes of a described file, or none if it is gone. A later step then rejects the build. */
export function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path, { flag: constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) })
  } catch {
    return Buffer.alloc(0)
  }
}

/** Returns the digest of a regular file. Returns `undefined` for symlinks, unreadable files and missing files. */
export async function digestOfFile(path: string): Promise<FileDigest | undefined> {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined
    return await readOnce(path, digestOfContent)
  } catch {
    return undefined
  }
}

/** Returns whether the file still has the described bytes. Reads it only if its stamp changed. */
export async function isUnchanged(folder: string, { path, stamp, sha256 }: DescribedFile): Promise<boolean> {
  try {
    if (stampOf(statSync(join(folder, path), { bigint: true })) === stamp) return true
    return (await describeFile(folder, path)).sha256 === sha256
  } catch {
    // It is gone, or another program is writing to it.
    return false
  }
}

/**
 * Opens a file and reads it synchronously: Node's thread pool makes 10,000 files of 2 kB take 7 s instead of 1 s. With
 * `O_NONBLOCK`, a FIFO does not block the process.
 */
async function readOnce<Found extends object>(
  path: string,
  read: (descriptor: number, size: number) => Promise<Found>,
): Promise<Found & { readonly size: number; readonly stamp: string }> {
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const before = fstatSync(descriptor, { bigint: true })
    if (!before.isFile()) throw new FileChangedError()
    const size = Number(before.size)
    const found = await read(descriptor, size)
    // A later comparison of stamps finds a writer that resets the time.
    const after = fstatSync(descriptor, { bigint: true })
    if (after.mtimeNs !== before.mtimeNs || after.size !== before.size) throw new FileChangedError()
    return { ...found, size, stamp: stampOf(before) }
  } finally {
    closeSync(descriptor)
  }
}

async function digestOfContent(descriptor: number, size: number): Promise<{ readonly sha256: string }> {
  const piece = Buffer.allocUnsafe(Math.min(size, pieceLength))
  if (size < pieceLength) {
    await readFully(descriptor, piece)
    return { sha256: sha256Of(piece) }
  }
  const sha256 = createHash('sha256')
  for (let position = 0; position < size; position += piece.length) {
    const rest = piece.subarray(0, size - position)
    await readFully(descriptor, rest)
    sha256.update(rest)
  }
  return { sha256: sha256.digest('hex') }
}

async function readFully(descriptor: number, bytes: Uint8Array): Promise<void> {
  for (let filled = 0; filled < bytes.length;) {
    if (filled > 0) await nextTurn()
    const length = Math.min(bytes.length - filled, pieceLength)
    const bytesRead = readSync(descriptor, bytes, filled, length, null)
    if (bytesRead === 0) throw new FileChangedError()
    filled += bytesRead
  }
  if (bytes.length >= pieceLength) await nextTurn()
}

export class FileChangedError extends Error {
  override readonly name = 'FileChangedError'

  constructor() {
    super(
      'the file changed during the read. Compress the folder after all other programs have written to it.',
    )
  }
}
