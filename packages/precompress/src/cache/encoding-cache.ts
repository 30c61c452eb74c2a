import { existsSync, statSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hasErrorCode, isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
import type { ContentCoding } from '@serve-dist/manifest'
import { codecs } from '../codecs/encode.ts'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { entryPath, readEntry, type StoredEncoding, writeEntry } from './cache-entry.ts'

/** The result of encoding a file. */
export interface Encoding {
  readonly coding: ContentCoding
  /** Size of the result in bytes. */
  readonly size: number
  /** The result, if it is worth keeping. */
  readonly kept?: {
    readonly sha256: string
    /** Reads the result. `undefined` if its bytes are lost: encode the file again. */
    readonly bytes: () => Promise<Uint8Array | undefined>
  }
}

/** Results of earlier compressions. A faulty entry counts as missing: it never fails a build or changes a byte. */
export interface EncodingCache {
  /** Returns the results that the current codecs produced for the file with this digest. */
  recall(sha256: string): ReadonlyMap<ContentCoding, Encoding>
  /** Replaces the entry of a file. */
  keep(sha256: string, encodings: readonly Encoding[]): Promise<void>
  /** The folder, for other threads. `undefined` if the cache is off. */
  readonly directory: string | undefined
  /** Number of bytes that this compression added. */
  bytesAdded(): number
  /** Adds the bytes that other threads wrote. */
  noteAdded(bytes: number): void
}

export interface EncodingCacheOptions {
  /** The cache folder. `undefined` turns the cache off. */
  readonly directory: string | undefined
  readonly warn: (message: string) => void
}

/** Minimum time between two updates of an entry's last use. */
const noteUseAfterMs = 7 * 24 * 60 * 60 * 1000

const noCache: EncodingCache = {
  recall: () => new Map(),
  keep: async () => {},
  directory: undefined,
  bytesAdded: () => 0,
  noteAdded: () => {},
}

/** Opens the cache in a folder, with one file for each original, named by its digest. */
export function openEncodingCache({ directory, warn }: EncodingCacheOptions): EncodingCache {
  if (directory === undefined) return noCache
  let bytesAdded = 0
  let isWritable = true

  const write = (change: () => void): void => {
    if (!isWritable) return
    try {
      change()
    } catch (error) {
      // Another build may prune the cache now, or a folder may have the name of this entry.
      const isFolderThere = hasErrorCode(error, 'EISDIR')
      if (isFolderThere || (isNotFoundError(error) && isFolder(directory))) return
      isWritable = false
      warn(
        `${directory}: cannot cache compression results for the next build (${reasonOf(error)}). Make this folder writable, or set another cacheDirectory.`,
      )
    }
  }

  return {
    recall(sha256) {
      const path = entryPath(directory, sha256)
      const entry = readEntry(path, sha256)
      if (entry === undefined) return new Map()
      const now = Date.now()
      if (now - entry.usedAt > noteUseAfterMs) write(() => utimesSync(path, now / 1000, now / 1000))
      return new Map(
        entry.encodings
          .filter(({ coding, codec }) => codec === codecs[coding])
          .map((encoding) => [encoding.coding, encodingOf(encoding, entry.content)]),
      )
    },

    async keep(sha256, encodings) {
      const { stored, contents } = await layOut(encodings)
      write(() => {
        const entry = { original: sha256, encodings: stored }
        bytesAdded += writeEntry(entryPath(directory, sha256), entry, contents)
      })
    },

    directory,
    bytesAdded: () => bytesAdded,
    noteAdded: (bytes) => {
      bytesAdded += bytes
    },
  }
}

/** Returns `node_modules/.cache/serve-dist` next to the nearest `package.json` above the folder, if there is one. */
export function findCacheDirectory(folder: string): string | undefined {
  for (let parent = dirname(folder); ; parent = dirname(parent)) {
    if (existsSync(join(parent, 'package.json'))) return join(parent, 'node_modules/.cache/serve-dist')
    if (parent === dirname(parent)) return undefined
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

function encodingOf(
  { coding, size, stored }: StoredEncoding,
  content: (offset: number, size: number) => Promise<Buffer | undefined>,
): Encoding {
  if (stored === undefined) return { coding, size }
  const { offset, sha256 } = stored
  const bytes = async (): Promise<Uint8Array | undefined> => {
    const slice = await content(offset, size)
    return slice !== undefined && sha256Of(slice) === sha256 ? slice : undefined
  }
  return { coding, size, kept: { sha256, bytes } }
}

async function layOut(
  encodings: readonly Encoding[],
): Promise<{ stored: readonly StoredEncoding[]; contents: readonly Uint8Array[] }> {
  const stored: StoredEncoding[] = []
  const contents: Uint8Array[] = []
  let offset = 0
  for (const { coding, size, kept } of encodings) {
    const entry = { coding, codec: codecs[coding], size }
    const bytes = await kept?.bytes()
    if (kept === undefined) stored.push(entry)
    else if (bytes !== undefined) {
      stored.push({ ...entry, stored: { offset, sha256: kept.sha256 } })
      contents.push(bytes)
      offset += bytes.length
    }
  }
  return { stored, contents }
}
