import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { type CacheEntry, headRoom, parseEntry } from './cache-entry.ts'

/** An entry as it was found. */
export interface FoundEntry extends Pick<CacheEntry, 'encodings'> {
  /** When it was last used, about; in milliseconds since 1970. */
  readonly usedAt: number
  /** Bytes of its content, unless they are lost meanwhile; whether they are the right ones is not looked at. */
  readonly content: (offset: number, size: number) => Promise<Buffer | undefined>
}

/** What every look-up reads into. */
const head = Buffer.alloc(headRoom)

/** The entry of the original under the path; none when there is no file, or one that is damaged or of another file. */
export function readEntry(path: string, original: string): FoundEntry | undefined {
  try {
    const descriptor = openSync(path, 'r')
    try {
      const length = readSync(descriptor, head, 0, headRoom, 0)
      const entry = parseEntry(head.subarray(0, length), original)
      if (entry === undefined) return undefined
      const { encodings, contentStart } = entry
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

async function readSlice(path: string, position: number, size: number): Promise<Buffer | undefined> {
  const handle = await open(path, 'r').catch(() => undefined)
  try {
    const { buffer, bytesRead } = (await handle?.read(Buffer.alloc(size), 0, size, position)) ?? {}
    return bytesRead === size ? buffer : undefined
  } catch {
    return undefined
  } finally {
    await handle?.close()
  }
}
