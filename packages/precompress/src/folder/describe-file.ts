import { createHash } from 'node:crypto'
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { digestOf } from './digest-of.ts'
import { mediaTypeOf } from '../media-type-of.ts'
import { stampOf } from './stamp-of.ts'

/** What one read of a file found. */
export interface DescribedFile {
  readonly path: string
  readonly mediaType: string
  /** In bytes. */
  readonly size: number
  /** Lower-case hexadecimal. */
  readonly sha256: string
  /** Another one where the file may have been written since. */
  readonly stamp: string
}

/** A described file and the very bytes that were described. */
export interface LoadedFile extends DescribedFile {
  readonly bytes: Uint8Array
}

/** Between pieces of this length others get their turn. */
const pieceLength = 1024 * 1024

/** Reads a file piece by piece: its size does not matter to the memory. */
export async function describeFile(folder: string, path: string): Promise<DescribedFile> {
  return await readOnce(folder, path, async (descriptor, size) => {
    const piece = Buffer.allocUnsafe(Math.min(size, pieceLength))
    if (size < pieceLength) {
      await readFully(descriptor, piece)
      return { sha256: digestOf(piece) }
    }
    const sha256 = createHash('sha256')
    for (let position = 0; position < size; position += piece.length) {
      const rest = piece.subarray(0, size - position)
      await readFully(descriptor, rest)
      sha256.update(rest)
    }
    return { sha256: sha256.digest('hex') }
  })
}

/** Reads a file whole, into memory of the caller's choice: what is encoded is what was hashed. */
export async function loadFile(
  folder: string,
  path: string,
  allocate: (size: number) => Uint8Array | Promise<Uint8Array>,
): Promise<LoadedFile> {
  return await readOnce(folder, path, async (descriptor, size) => {
    const bytes = await allocate(size)
    await readFully(descriptor, bytes)
    return { sha256: digestOf(bytes), bytes }
  })
}

/** Whether the file still holds the bytes that were described; those are read only where something was changed. */
export async function isUnchanged(folder: string, { path, stamp, sha256 }: DescribedFile): Promise<boolean> {
  try {
    if (stampOf(statSync(join(folder, path), { bigint: true })) === stamp) return true
    return (await describeFile(folder, path)).sha256 === sha256
  } catch {
    // It is gone, or somebody writes to it now.
    return false
  }
}

/**
 * Without Node's pool, for which each step of a file costs ten times as much (10,000 files of 2 kB: 7 s, not
 * 1 s): what was just written is in memory. `O_NONBLOCK`: a FIFO must not hold up the whole process.
 */
async function readOnce<Found extends object>(
  folder: string,
  path: string,
  read: (descriptor: number, size: number) => Promise<Found>,
): Promise<Found & Omit<DescribedFile, 'sha256'>> {
  const descriptor = openSync(join(folder, path), constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  try {
    const before = fstatSync(descriptor, { bigint: true })
    if (!before.isFile()) throw new FileChangedError()
    const size = Number(before.size)
    const found = await read(descriptor, size)
    // Whoever writes and sets the time back is found out by the stamp, at the end of the pass.
    const after = fstatSync(descriptor, { bigint: true })
    if (after.mtimeNs !== before.mtimeNs || after.size !== before.size) throw new FileChangedError()
    return { ...found, path, mediaType: mediaTypeOf(path), size, stamp: stampOf(before) }
  } finally {
    closeSync(descriptor)
  }
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

class FileChangedError extends Error {
  override readonly name = 'FileChangedError'

  constructor() {
    super('it changed while it was being read; run this after everything else that writes to the folder')
  }
}
