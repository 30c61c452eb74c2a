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

/** What one read of a file found. */
export interface FileDigest {
  /** Lower-case hexadecimal. */
  readonly sha256: string
  /** Another one where the file may have been written since. */
  readonly stamp: string
}

/** A file as the manifest describes it. */
export interface DescribedFile extends FileDigest {
  readonly path: string
  readonly mediaType: string
  /** In bytes. */
  readonly size: number
}

/** A described file and the very bytes that were described. */
export interface LoadedFile extends DescribedFile {
  readonly bytes: Uint8Array
}

/** Between pieces of this length others get their turn. */
const pieceLength = 1024 * 1024

/** Which file it is, when its bytes last changed, when anything of it did (nobody can set that), and its size. */
export function stampOf({ dev, ino, mtimeNs, ctimeNs, size }: BigIntStats): string {
  return `${dev} ${ino} ${mtimeNs} ${ctimeNs} ${size}`
}

/** Reads a file piece by piece, so its size does not matter to the memory. */
export async function describeFile(folder: string, path: string): Promise<DescribedFile> {
  return { ...(await readOnce(join(folder, path), digestOfContent)), path, mediaType: mediaTypeOf(path) }
}

/** Reads a file whole: what is encoded is what was hashed. */
export async function loadFile(folder: string, path: string): Promise<LoadedFile> {
  const found = await readOnce(join(folder, path), async (descriptor, size) => {
    const bytes = new Uint8Array(size)
    await readFully(descriptor, bytes)
    return { sha256: sha256Of(bytes), bytes }
  })
  return { ...found, path, mediaType: mediaTypeOf(path) }
}

/** The bytes of a file that was described before; none where it is gone, which fails a pass in a later step. */
export function readIfThere(path: string): Buffer {
  try {
    return readFileSync(path, { flag: constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) })
  } catch {
    return Buffer.alloc(0)
  }
}

/** The digest of a regular file; `undefined` for a symlink, for what cannot be read and where nothing is. */
export async function digestOfFile(path: string): Promise<FileDigest | undefined> {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined
    return await readOnce(path, digestOfContent)
  } catch {
    return undefined
  }
}

/** Whether the file still holds the bytes that were described; those are read only where something was changed. */
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
 * Without Node's pool, for which each step of a file costs ten times as much (10,000 files of 2 kB: 7 s, not
 * 1 s): what was just written is in memory. `O_NONBLOCK`: a FIFO must not hold up the whole process.
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
    // The stamp, compared at the end of the pass, finds a writer that sets the time back.
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
    super('it changed while it was being read; run this after everything else that writes to the folder')
  }
}
