import { existsSync, statSync, utimesSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'
import type { ContentCoding } from '@serve-dist/manifest'
import { codecs } from '../codecs/encode.ts'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { entryPath, readEntry, type StoredEncoding, writeEntry } from './cache-entry.ts'

/** What came of encoding a file. */
export interface Encoding {
  readonly coding: ContentCoding
  /** Of the result, in bytes. */
  readonly size: number
  /** Where it pays: what to keep. */
  readonly kept?: {
    readonly sha256: string
    /** The result, or nothing where it was lost meanwhile: then it must be made again. */
    readonly bytes: () => Promise<Uint8Array | undefined>
  }
}

/** Results of earlier passes. Whatever is wrong with it is a miss: it fails no build and changes no byte. */
export interface EncodingCache {
  /** What the codecs of this process once made of the file with this digest. */
  recall(sha256: string): ReadonlyMap<ContentCoding, Encoding>
  /** Replaces what is known of it. */
  keep(sha256: string, encodings: readonly Encoding[]): Promise<void>
  /** Where it is, for other threads; nowhere when it keeps nothing. */
  readonly directory: string | undefined
  /** How much was kept in this pass. */
  bytesAdded(): number
  /** Counts what other threads kept. */
  noteAdded(bytes: number): void
}

export interface EncodingCacheOptions {
  /** Without one, the cache keeps nothing. */
  readonly directory: string | undefined
  readonly warn: (message: string) => void
}

/** Using an entry is noted at most so often. */
const noteUseAfterMs = 7 * 24 * 60 * 60 * 1000

const noCache: EncodingCache = {
  recall: () => new Map(),
  keep: async () => {},
  directory: undefined,
  bytesAdded: () => 0,
  noteAdded: () => {},
}

/** The cache in a folder: one file for each original, under its digest. */
export function openEncodingCache({ directory, warn }: EncodingCacheOptions): EncodingCache {
  if (directory === undefined) return noCache
  let bytesAdded = 0
  let isWritable = true

  const write = (change: () => void): void => {
    if (!isWritable) return
    try {
      change()
    } catch (error) {
      // Another build may prune at this moment; or something else stands in the place of this one entry.
      const isFolderThere = error instanceof Error && 'code' in error && error.code === 'EISDIR'
      if (isFolderThere || (isNotFoundError(error) && isFolder(directory))) return
      isWritable = false
      warn(`${directory}: results cannot be kept for the next build (${reasonOf(error)})`)
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

/**
 * Where tools keep caches: in `node_modules` beside the nearest `package.json` above the folder; nowhere outside a
 * package.
 */
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
