import { createHash } from 'node:crypto'
import type { ContentCoding } from '@serve-dist/manifest'
import { type CacheEntry, entryKey, parseEntry, type StoredEncoding } from './cache-entry.ts'
import { codecs } from './encode.ts'
import { pruneCache } from './prune-cache.ts'
import { reasonOf } from './reason-of.ts'

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
  recall(sha256: string): Promise<ReadonlyMap<ContentCoding, Encoding>>
  /** Replaces what is known of it. */
  keep(sha256: string, encodings: readonly Encoding[]): Promise<void>
  /** Removes what was not used for long, or is too much; worth no waiting for. */
  prune(): Promise<void>
}

export interface EncodingCacheOptions {
  readonly directory: string
  /** In bytes; above it, what was not used for longest is removed. */
  readonly size: number
  readonly warn: (message: string) => void
}

/** Using an entry is noted at most so often. */
const noteUseAfterMs = 7 * 24 * 60 * 60 * 1000

/** A cache that knows nothing and keeps nothing. */
export const noCache: EncodingCache = {
  recall: async () => new Map(),
  keep: async () => {},
  prune: async () => {},
}

export async function openEncodingCache(options: EncodingCacheOptions): Promise<EncodingCache> {
  const { directory, warn } = options
  const { default: cacache } = await import('cacache')
  let bytesAdded = 0
  let isWritable = true

  const write = async (change: () => Promise<unknown>): Promise<void> => {
    if (!isWritable) return
    try {
      await change()
    } catch (error) {
      const isPruned = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      // Another build may prune at this moment.
      if (!isWritable || isPruned) return
      isWritable = false
      warn(`${directory}: results cannot be kept for the next build (${reasonOf(error)})`)
    }
  }

  const noteUse = async (key: string, { integrity, size, encodings, time }: CacheEntry): Promise<void> => {
    if (Date.now() - time < noteUseAfterMs) return
    await write(
      async () => await cacache.index.insert(directory, key, integrity, { size, metadata: { encodings } }),
    )
  }

  const contentOf = async ({ integrity }: CacheEntry): Promise<Buffer | undefined> => {
    try {
      return await cacache.get.byDigest(directory, integrity)
    } catch {
      // Damaged content would stand in the way of its own renewal.
      await cacache.rm.content(directory, integrity).catch(() => undefined)
      return undefined
    }
  }

  return {
    async recall(sha256) {
      const key = entryKey(sha256)
      const entry = parseEntry(await cacache.get.info(directory, key).catch(() => undefined))
      if (entry === undefined) return new Map()
      await noteUse(key, entry)
      let reading: Promise<Buffer | undefined> | undefined
      const read = async (): Promise<Buffer | undefined> => await (reading ??= contentOf(entry))
      return new Map(
        entry.encodings
          .filter(({ coding, codec }) => codec === codecs[coding])
          .map((encoding) => [encoding.coding, encodingOf(encoding, read)]),
      )
    },

    async keep(sha256, encodings) {
      await write(async () => {
        const { stored, content } = await layOut(encodings)
        bytesAdded += content.length
        const metadata = { encodings: stored }
        await cacache.put(directory, entryKey(sha256), content, { algorithms: ['sha256'], metadata })
      })
    },

    async prune() {
      await pruneCache(directory, { size: options.size, bytesAdded }).catch(() => undefined)
    },
  }
}

function encodingOf(
  { coding, size, stored }: StoredEncoding,
  read: () => Promise<Buffer | undefined>,
): Encoding {
  if (stored === undefined) return { coding, size }
  const { offset, sha256 } = stored
  const bytes = async (): Promise<Uint8Array | undefined> => {
    const slice = (await read())?.subarray(offset, offset + size)
    return slice !== undefined && digestOf(slice) === sha256 ? slice : undefined
  }
  return { coding, size, kept: { sha256, bytes } }
}

async function layOut(
  encodings: readonly Encoding[],
): Promise<{ stored: readonly StoredEncoding[]; content: Buffer }> {
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
  return { stored, content: Buffer.concat(contents) }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
