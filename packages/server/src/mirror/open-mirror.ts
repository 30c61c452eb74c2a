import { join } from 'node:path'
import { OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import {
  blobsOf,
  currentKey,
  type DeltasDocument,
  type History,
  type NamedBlob,
  parseHistory,
  stringifyHistory,
} from '@serve-dist/store'
import type { FileProvider } from '../files/file-provider.ts'
import { readOptional } from '../files/read-optional.ts'
import type { StoreView } from '../site/store-view.ts'
import { openBlobCache } from './blob-cache.ts'
import { fetchMissingBlob } from './fetch-missing-blob.ts'
import {
  cacheDeltas,
  cacheGeneration,
  type Generation,
  readCachedDeltas,
  readCachedGeneration,
  writeDocument,
} from './cached-generation.ts'
import { emptyUpstreamError, observeUpstream } from './observe-upstream.ts'
import type { Upstream } from './upstream.ts'

/** Options of `openMirror`. */
export interface MirrorOptions {
  readonly upstream: Upstream
  /** The folder from `openCacheFolder`. */
  readonly cache: string
  /** The maximum size of the blobs in bytes. Blobs of needed builds may exceed it. */
  readonly cacheSize: number
  /** Whether deltas are served. */
  readonly deltas: boolean
  /** Called when the store becomes unreachable or reachable. */
  readonly onNotice: (text: string) => void
}

/** Builds of a store. Their files are in a cache or are fetched on demand. */
export interface CachedBuilds extends FileProvider {
  /** The name of the store, for messages. */
  readonly place: string
  /** The cache folder. */
  readonly cache: string
  /** The current build first; all its blobs are in the cache. */
  readonly generations: readonly Generation[]
  /**
   * Updates `generations` from the store.
   *
   * @throws OperatorError if the current build is not available. The previous one then stays first.
   */
  refresh(): Promise<void>
  /**
   * Returns the builds in the store whose manifests are available. Their blobs need not be in the cache.
   *
   * @throws OperatorError if the store is unreachable.
   */
  listBuilds(): Promise<readonly Generation[]>
  /**
   * Reads the deltas of a build. It never rejects.
   *
   * @returns `undefined` if the build has no deltas or they are not available.
   */
  readDeltas(id: string): Promise<DeltasDocument | undefined>
  /** Returns the path of a blob, even if the file is missing. */
  fileOf(sha256: string): string
  /** Ensures that a blob's file exists and is intact. */
  fetch(blob: NamedBlob): Promise<'fetched' | 'missing'>
}

/**
 * A local cache of a store's builds. Several processes may share it: files are written under a temporary
 * name and renamed, and files that another process deleted are fetched again.
 */
export interface Mirror extends CachedBuilds, StoreView {
  /**
   * How often deltas could not be read because the store was unreachable. The build must then be loaded
   * again.
   */
  readonly missedDeltas: number
  /**
   * Checks the current content of the store.
   *
   * @returns the ids of the builds, the current one first; `undefined` if the store is unreachable.
   */
  look(): Promise<readonly string[] | undefined>
  /**
   * Updates `generations` from the cache.
   *
   * @param reason - why the builds of the store are unusable.
   * @returns whether the cache has a build that was not purged from the store, as far as is known.
   */
  refreshFromCache(reason: OperatorError): Promise<boolean>
  /** Protects the served build from eviction, even if another one becomes current. */
  noteServed(id: string): void
}

/** Space to free for a manifest or a history, in bytes; a manifest of 5,000 files has about this size. */
const documentSize = 1024 * 1024

export function openMirror({ upstream, cache, cacheSize, deltas, onNotice }: MirrorOptions): Mirror {
  let generations: readonly Generation[] = []
  let served: Generation | undefined
  let fetched: Generation | undefined
  let missedDeltas = 0
  /** The last known builds of the store. Purged builds are not served from the cache either. */
  let listed: readonly string[] | undefined
  const store = observeUpstream(upstream, { isServed: () => generations.length > 0, onNotice })
  const { place } = store
  const blobs = openBlobCache({
    upstream: store,
    cache,
    cacheSize,
    needed: () => [generations[0], served, fetched].filter((each) => each !== undefined),
    listed: () => generations,
  })

  /** @param mayLack - returns whether an earlier build with this error is skipped. */
  async function adopt(
    [newest, ...older]: readonly string[],
    mayLack: (error: unknown) => boolean,
  ): Promise<void> {
    if (newest === undefined) throw emptyUpstreamError(place)
    fetched = await generationOf(newest)
    const kept = await generationsOf(older, mayLack)
    await blobs.fetchLacking(blobsOf(fetched.manifest))
    generations = [fetched, ...kept]
  }

  async function generationsOf(
    ids: readonly string[],
    mayLack: (error: unknown) => boolean,
  ): Promise<readonly Generation[]> {
    const found: Generation[] = []
    for (const id of ids) {
      try {
        found.push(await generationOf(id))
      } catch (error) {
        if (!mayLack(error)) throw error
      }
    }
    return found
  }

  async function generationOf(id: string): Promise<Generation> {
    const known = generations.find((each) => each.id === id)
    if (known !== undefined) return known
    const cached = await readCachedGeneration(cache, id)
    if (cached !== undefined) return cached
    const manifest = await store.readGeneration(id)
    return await blobs.intoRoom(documentSize, () => cacheGeneration(cache, id, manifest))
  }

  return {
    place,
    cache,
    comparisons: blobs.comparisons,
    get figures() {
      return { looks: store.looks, ...blobs.figures }
    },
    get state() {
      return store.state
    },
    get generations() {
      return generations
    },
    get missedDeltas() {
      return missedDeltas
    },
    fileOf: blobs.fileOf,
    fetch: blobs.fetch,

    async readDeltas(id) {
      if (!deltas) return undefined
      try {
        const cached = await readCachedDeltas(cache, id)
        const found = cached ?? (await store.readDeltas(id))
        if (cached === undefined && found !== undefined) await cacheDeltas(cache, id, found)
        return found
      } catch (error) {
        const isAway = error instanceof OperatorError && error.code === 'SD_STORE_UNAVAILABLE'
        if (isAway) missedDeltas += 1
        else onNotice(`serving without deltas: ${reasonOf(error)}`)
        return undefined
      }
    },
    async look() {
      try {
        return idsOf(await store.readLatest())
      } catch {
        return undefined
      }
    },

    listBuilds: async () => await generationsOf(idsOf(await store.readLatest()), isOfBuild),

    async refresh() {
      const history = await store.readLatest()
      listed = idsOf(history)
      await adopt(listed, isOfBuild).catch(async (error: unknown) => {
        const [current] = generations
        if (current !== undefined) {
          generations = withCurrent(current, await generationsOf(listed ?? [], () => true))
        }
        throw error
      })
      // Written last, so that a process that starts from the cache finds all files.
      const file = join(cache, currentKey)
      await blobs.intoRoom(documentSize, () => writeDocument(file, stringifyHistory(history)))
      void blobs.tidy()
    },

    async refreshFromCache(reason) {
      store.noteUseless(reason)
      const text = await readOptional(join(cache, currentKey))
      if (text === undefined) return false
      const ids = idsOf(parseHistory(text, cache)).filter((id) => listed?.includes(id) ?? true)
      if (ids.length > 0) await adopt(ids, () => true)
      return ids.length > 0
    },

    noteServed(id) {
      served = generations.find((each) => each.id === id)
    },

    noteUse({ sha256 }) {
      if (sha256 !== undefined) blobs.noteUse(sha256)
    },

    fetchMissing: (stored) => fetchMissingBlob(stored, blobs.fetch),
  }
}

/** Returns a build followed by the other builds of a store. */
export function withCurrent(current: Generation, builds: readonly Generation[]): readonly Generation[] {
  return [current, ...builds.filter(({ id }) => id !== current.id)]
}

/** Returns the distinct builds of a history, the current one first. */
function idsOf({ history }: History): readonly string[] {
  return [...new Set(history.map(({ id }) => id))]
}

/** Returns whether an error affects only one build: it was purged, or it is unreadable. */
function isOfBuild(error: unknown): boolean {
  return (
    error instanceof OperatorError &&
    (error.code === 'SD_GENERATION_MISSING' || error.code === 'SD_STORE_INVALID')
  )
}
