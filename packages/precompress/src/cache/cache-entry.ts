import { randomUUID } from 'node:crypto'
import { closeSync, constants, existsSync, fstatSync, mkdirSync, readSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ContentCoding } from '@serve-dist/manifest'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { safeOpenFlags, openRegularFile, writeNew } from '../folder/disk.ts'

/** One result, as the head of a cache entry describes it. */
export interface StoredEncoding {
  readonly coding: ContentCoding
  /** Codec, version and settings. */
  readonly codec: string
  /** Size of the result in bytes. */
  readonly size: number
  /** Offset of the result after the head, and its digest. Absent if the result is not worth keeping. */
  readonly stored?: { readonly offset: number; readonly sha256: string }
}

/** The head of a cache entry. */
interface Entry {
  /** The digest of the original. */
  readonly original: string
  readonly encodings: readonly StoredEncoding[]
}

/** A cache entry that was read from the disk. */
export interface FoundEntry {
  readonly encodings: readonly StoredEncoding[]
  /** Approximate time of the last use, in milliseconds since 1970. */
  readonly usedAt: number
  /** Reads bytes of the content, `undefined` if they are lost. Does not verify them. */
  readonly content: (offset: number, size: number) => Promise<Buffer | undefined>
}

/** Returns the folder of all entries. The cache must not remove files outside it. */
export function entriesFolder(directory: string): string {
  return join(directory, 'entries-1')
}

/** Returns the path of an original's entry, in one of 256 folders. */
export function entryPath(directory: string, sha256: string): string {
  return join(entriesFolder(directory), sha256.slice(0, 2), sha256.slice(2))
}

/** Returns whether a file is an entry that `writeEntry` has not finished. */
export function isTemporary(path: string): boolean {
  return /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(path)
}

/**
 * Replaces a whole entry, even while other builds read it.
 *
 * The first line of the file is a checksum and the head. The bytes of all results follow.
 *
 * @returns the length of the file in bytes.
 */
export function writeEntry(path: string, entry: Entry, contents: readonly Uint8Array[]): number {
  const text = JSON.stringify(entry)
  const bytes = Buffer.concat([Buffer.from(`${sha256Of(text)} ${text}\n`), ...contents])
  const temporary = `${path}.${randomUUID()}`
  try {
    closeSync(writeNew(temporary, bytes, () => mkdirSync(dirname(path), { recursive: true })))
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    // Windows cannot replace a file while another process reads it.
    if (process.platform !== 'win32' || !existsSync(path)) throw error
  }
  return bytes.length
}

/** Larger than any head. One read of this length covers most entries of small files. */
const headRoom = 16_384

/** A buffer that all reads share. */
const head = Buffer.alloc(headRoom)

/** Reads the entry of an original. Returns `undefined` if the file is missing, damaged or of another original. */
export function readEntry(path: string, original: string): FoundEntry | undefined {
  try {
    const descriptor = openRegularFile(path)
    try {
      const length = readSync(descriptor, head, 0, headRoom, 0)
      const contentStart = head.subarray(0, length).indexOf('\n') + 1
      const encodings = parseHead(head.toString('utf8', 0, contentStart), original)
      if (encodings === undefined) return undefined
      // Copy the start of the content, because the next call overwrites the buffer.
      const start = Buffer.from(head.subarray(contentStart, length))
      const content = async (offset: number, size: number): Promise<Buffer | undefined> =>
        offset + size <= start.length
          ? start.subarray(offset, offset + size)
          : await readSlice(path, contentStart + offset, size)
      return { encodings, usedAt: fstatSync(descriptor).mtimeMs, content }
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return undefined
  }
}

/** Parses the head. Returns `undefined` if it is damaged or belongs to another original. */
function parseHead(line: string, original: string): readonly StoredEncoding[] | undefined {
  const [checksum] = line.split(' ', 1)
  const text = line.slice(`${checksum} `.length, -1)
  if (checksum !== sha256Of(text)) return undefined
  const entry: Partial<Entry> = JSON.parse(text)
  return entry.original === original ? entry.encodings : undefined
}

async function readSlice(path: string, position: number, size: number): Promise<Buffer | undefined> {
  const handle = await open(path, constants.O_RDONLY | safeOpenFlags).catch(() => undefined)
  try {
    const { buffer, bytesRead } = (await handle?.read(Buffer.alloc(size), 0, size, position)) ?? {}
    return bytesRead === size ? buffer : undefined
  } catch {
    return undefined
  } finally {
    await handle?.close()
  }
}
