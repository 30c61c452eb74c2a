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

/** Options of `openBlobCache`. */
export interface BlobCacheOptions {
  readonly upstream: Pick<Upstream, 'place' | 'fetchBlob'>
  /** The folder from `openCacheFolder`. */
  readonly cache: string
  /** The maximum size in bytes. Blobs of needed builds may exceed it. */
  readonly cacheSize: number
  /** Builds whose blobs are never evicted. */
  readonly needed: () => readonly Generation[]
  /** Builds whose manifests and deltas are kept. */
  readonly listed: () => readonly Generation[]
}

/** A cache of blobs, which fetches missing blobs on demand. */
export interface BlobCache {
  readonly figures: Omit<StoreFigures, 'looks'>
  readonly comparisons: DigestComparisons
  /** Returns the path of a blob, even if the file is missing. */
  readonly fileOf: (sha256: string) => string
  /** Ensures that a blob's file exists and is intact. Concurrent calls share one fetch. */
  readonly fetch: (blob: NamedBlob) => Promise<'fetched' | 'missing'>
  /**
   * Fetches the blobs whose files are missing. The caller compares the others when it reads them.
   *
   * @throws OperatorError if a blob is not available.
   */
  fetchLacking(blobs: readonly NamedBlob[]): Promise<void>
  /**
   * Writes another file to the cache. If the disk is full, it evicts blobs first.
   *
   * @throws OperatorError if no space can be freed.
   */
  intoRoom<Result>(size: number, write: () => Promise<Result>): Promise<Result>
  /** Records that a blob is read, which delays its eviction. */
  noteUse(sha256: string): void
  /** Evicts blobs beyond the size limit and deletes leftovers of killed processes. */
  tidy(): Promise<void>
}

/**
 * Concurrent fetches for answers, each of which takes a connection. Fetches for the current build have the
 * same limit of their own, so that they do not wait for clients.
 */
const fetchesAtOnce = 16
/** The number of attempts; another process may use the freed space first. */
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
    // The digest was verified during the download. Small files are cheap to compare again.
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
   * Tries to repair the cause of a failed write: it frees space, restores the deleted cache folder, or
   * removes a folder that has the path of the file.
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

  /** Another process or an earlier caller may have fetched it. */
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

  /** @returns the number of bytes that were freed. */
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
    // Evict the least recently used blobs first.
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
        // An answer may have fetched the file in the meantime. A second download would replace it while it is compared.
        if (there.has(blob.sha256) || (await once(blob, downloadUnlessThere)) === 'fetched') return
        throw new OperatorError(
          'SD_STORE_INVALID',
          `${upstream.place}: ${blobKey(blob.sha256)} is missing. Publish the build again.`,
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
