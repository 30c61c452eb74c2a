import { lstatSync } from 'node:fs'
import { mkdir, readdir, rm, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { OperatorError } from '@serve-dist/manifest'
import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import { blobKey, blobsOf, currentKey, deltasKey, type NamedBlob } from '@serve-dist/store'
import { createWeightedSemaphore } from '@serve-dist/foundation/concurrency/create-weighted-semaphore'
import { type DigestComparisons, hasDigest, rememberDigest } from '../files/compare-file.ts'
import { synchronousReadBytes } from '../files/digest-file.ts'
import { coalesceRuns } from '../files/coalesce-runs.ts'
import { closeDescriptor, linklessFlags, openRegularFile } from '../files/open-regular-file.ts'
import type { StoreFigures } from '../site/store-view.ts'
import type { Generation } from './cached-generation.ts'
import { type CachedBlob, sweepCache } from './sweep-cache.ts'
import type { Upstream } from './upstream.ts'

/** What a cache of blobs is made from. */
export interface BlobCacheOptions {
  readonly upstream: Pick<Upstream, 'place' | 'fetchBlob'>
  /** The folder that `openCacheFolder` made. */
  readonly cache: string
  /** Bytes that it may hold, but for those that are needed. */
  readonly cacheSize: number
  /** Builds of which no blob is taken away. */
  readonly needed: () => readonly Generation[]
  /** Builds whose manifests and deltas stay. */
  readonly listed: () => readonly Generation[]
}

/** The blobs that lie in a cache, and come there when they are asked for. */
export interface BlobCache {
  readonly figures: Omit<StoreFigures, 'looks'>
  readonly comparisons: DigestComparisons
  /** The file of a blob, whether it is there or not. */
  readonly fileOf: (sha256: string) => string
  /** Makes sure that the file of a blob is there, with its bytes; they are fetched once, however many wait. */
  readonly fetch: (blob: NamedBlob) => Promise<'fetched' | 'missing'>
  /**
   * Fetches those that are not there. Who reads the others compares them.
   *
   * @throws OperatorError where one is not to be had.
   */
  fetchLacking(blobs: readonly NamedBlob[]): Promise<void>
  /**
   * Writes something else into the cache, with room made for it where the disk is full.
   *
   * @throws OperatorError where there is none to be made.
   */
  intoRoom<Result>(size: number, write: () => Promise<Result>): Promise<Result>
  /** Somebody reads a blob: it is not the one to be given up next. */
  noteUse(sha256: string): void
  /** Takes away what is too much, and what killed processes have left. */
  tidy(): Promise<void>
}

/**
 * Blobs that are asked for at a time, each of which takes a connection: for answers, and as many for the current build, which
 * does not wait for what clients ask for.
 */
const fetchesAtOnce = 16
/** Others may fill the room that was made. */
const mostTries = 8

export function openBlobCache(options: BlobCacheOptions): BlobCache {
  const { upstream, cache, cacheSize, needed, listed } = options
  const figures = { fetchedBlobs: 0, fetchedBytes: 0, cacheBytes: 0 }
  const comparisons: DigestComparisons = new Map()
  const asked: Fetches = new Map()
  const fetching: Fetches = new Map()
  const lastUses = new Map<string, number>()
  const inTurn = createWeightedSemaphore(fetchesAtOnce)

  function fileOf(sha256: string): string {
    return join(cache, blobKey(sha256))
  }

  async function once(blob: NamedBlob, fetchNow: typeof download): Promise<'fetched' | 'missing'> {
    return await shareUnderWay(fetching, blob.sha256, () => fetchNow(blob))
  }

  async function download(blob: NamedBlob): Promise<'fetched' | 'missing'> {
    const { sha256, size } = blob
    const result = await intoRoom(size, () => upstream.fetchBlob(blob, fileOf(sha256)))
    if (result === 'missing') return result
    // It was compared while it was written, and what is small is read in no time.
    if (size > synchronousReadBytes)
      rememberDigest(lstatSync(fileOf(sha256), { bigint: true }), sha256, comparisons)
    figures.fetchedBlobs += 1
    figures.fetchedBytes += size
    figures.cacheBytes += size
    if (figures.cacheBytes > cacheSize) void tidy()
    return result
  }

  async function intoRoom<Result>(size: number, write: () => Promise<Result>): Promise<Result> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await write()
      } catch (error) {
        if (tries === mostTries || !(await mendDisk(error, size))) throw error
      }
    }
  }

  /**
   * Whether there is room again on a disk that is full before the cache is, or a folder that somebody has deleted, or none
   * any more in the place of a file.
   */
  async function mendDisk(error: unknown, size: number): Promise<boolean> {
    if (!(error instanceof OperatorError) || error.code !== 'SD_WRITE_FAILED') return false
    const { cause } = error
    if (!(cause instanceof Error && 'code' in cause)) return false
    const { code } = cause
    if (code === 'EISDIR' && 'dest' in cause && typeof cause.dest === 'string') {
      await rm(cause.dest, { recursive: true, force: true })
      return true
    }
    if (code === 'ENOSPC' || code === 'EDQUOT') return (await evict((held) => held - size)) > 0
    if (code !== 'ENOENT') return false
    await mkdir(join(cache, 'blobs'), { recursive: true, mode: 0o700 })
    return true
  }

  /** Another process, or an earlier caller, may have been faster. */
  async function downloadUnlessThere(blob: NamedBlob): Promise<'fetched' | 'missing'> {
    return (await isThere(blob)) ? 'fetched' : await download(blob)
  }

  async function isThere({ sha256, size }: NamedBlob): Promise<boolean> {
    const opened = await openRegularFile(fileOf(sha256), linklessFlags).catch(() => undefined)
    if (opened === undefined) return false
    try {
      return opened.stats.size === BigInt(size) && (await hasDigest(opened, sha256, comparisons))
    } finally {
      await closeDescriptor(opened.descriptor)
    }
  }

  const tidy = coalesceRuns(async () => void (await evict(() => cacheSize)))

  /** @returns the bytes that it took away. */
  async function evict(most: (held: number) => number): Promise<number> {
    const documents = listed().flatMap(({ id, file }) => [file, join(cache, deltasKey(id))])
    const kept = new Set([join(cache, currentKey), ...documents])
    const swept = await sweepCache(cache, (file) => kept.has(file))
    const blobs = swept.map(({ sha256, size, used }) => {
      const lastUse = lastUses.get(sha256) ?? 0
      return { sha256, size, used: Math.max(used, lastUse) }
    })
    const held = bytesOf(blobs)
    const digests = new Set(needed().flatMap(({ manifest }) => blobsOf(manifest).map(({ sha256 }) => sha256)))
    let left = held
    // First the blobs whose last use is longest ago.
    for (const { sha256, size } of blobs.toSorted((a, b) => a.used - b.used)) {
      if (left <= most(held)) break
      if (digests.has(sha256) || fetching.has(sha256)) continue
      await unlink(fileOf(sha256)).catch(() => {})
      lastUses.delete(sha256)
      comparisons.delete(sha256)
      left -= size
    }
    figures.cacheBytes = left
    return held - left
  }

  return {
    figures,
    comparisons,
    fileOf,
    fetch: async (blob) =>
      await shareUnderWay(asked, blob.sha256, () => inTurn(() => once(blob, downloadUnlessThere))),

    async fetchLacking(blobs) {
      const there = new Set(await readdir(join(cache, 'blobs')).catch(() => []))
      await forEachConcurrently(blobs, fetchesAtOnce, async (blob) => {
        if (there.has(blob.sha256) || (await once(blob, download)) === 'fetched') return
        throw new OperatorError(
          'SD_STORE_INVALID',
          `${upstream.place}: ${blobKey(blob.sha256)} is missing; publish the build again`,
        )
      })
    },

    intoRoom,
    noteUse(sha256) {
      lastUses.set(sha256, Date.now())
    },
    tidy,
  }
}

/** By digest. */
type Fetches = Map<string, Promise<'fetched' | 'missing'>>

async function shareUnderWay(
  fetches: Fetches,
  sha256: string,
  begin: () => Promise<'fetched' | 'missing'>,
): Promise<'fetched' | 'missing'> {
  const underWay = fetches.get(sha256) ?? begin().finally(() => fetches.delete(sha256))
  fetches.set(sha256, underWay)
  return await underWay
}

function bytesOf(blobs: readonly CachedBlob[]): number {
  return blobs.reduce((sum, { size }) => sum + size, 0)
}
