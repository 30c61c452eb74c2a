import { randomUUID } from 'node:crypto'
import { closeSync, constants, existsSync, fstatSync, mkdirSync, readSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ContentCoding } from '@serve-dist/manifest'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { safeOpenFlags, openRegularFile, writeNew } from '../folder/disk.ts'

/** One result as the head of an entry holds it. */
export interface StoredEncoding {
  readonly coding: ContentCoding
  /** Codec, version and settings. */
  readonly codec: string
  /** Of the result, in bytes. */
  readonly size: number
  /** Where its bytes are, counted from the end of the head, and what they are; absent where it does not pay. */
  readonly stored?: { readonly offset: number; readonly sha256: string }
}

/** What the head of an entry says. */
interface Entry {
  /** The digest of the original. */
  readonly original: string
  readonly encodings: readonly StoredEncoding[]
}

/** An entry as it was found. */
export interface FoundEntry {
  readonly encodings: readonly StoredEncoding[]
  /** When it was last used, about; in milliseconds since 1970. */
  readonly usedAt: number
  /** Bytes of its content, unless they are lost meanwhile; whether they are the right ones is not looked at. */
  readonly content: (offset: number, size: number) => Promise<Buffer | undefined>
}

/** The folder of the cache that holds its entries; what else stands beside it is not the cache's to remove. */
export function entriesFolder(directory: string): string {
  return join(directory, 'entries-1')
}

/** Where the entry of an original stands, in one of 256 folders. */
export function entryPath(directory: string, sha256: string): string {
  return join(entriesFolder(directory), sha256.slice(0, 2), sha256.slice(2))
}

/** Whether a file is an entry that was being written: `writeEntry` gives it this name first. */
export function isTemporary(path: string): boolean {
  return /\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(path)
}

/**
 * Replaces an entry as a whole, while other builds may read it. Its file is a line with a checksum of its own, the digest of the
 * original and what is known of it; then the bytes of all results, one behind the other.
 *
 * @returns the length of the file.
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
    // Windows replaces no file while another process reads it.
    if (process.platform !== 'win32' || !existsSync(path)) throw error
  }
  return bytes.length
}

/** More than a head ever takes; most entries of small files are read whole with it. */
const headRoom = 16_384

/** What every look-up reads into. */
const head = Buffer.alloc(headRoom)

/** Reads the entry of the original; `undefined` where the file is missing, damaged or of another original. */
export function readEntry(path: string, original: string): FoundEntry | undefined {
  try {
    const descriptor = openRegularFile(path)
    try {
      const length = readSync(descriptor, head, 0, headRoom, 0)
      const contentStart = head.subarray(0, length).indexOf('\n') + 1
      const encodings = parseHead(head.toString('utf8', 0, contentStart), original)
      if (encodings === undefined) return undefined
      // Most entries end here: their content need not be asked for.
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

/** What the line says; nothing when it is damaged or another file's. Its checksum shows that `writeEntry` wrote it. */
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
