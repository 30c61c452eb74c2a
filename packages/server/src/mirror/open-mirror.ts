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

/** How a store is mirrored. */
export interface MirrorOptions {
  readonly upstream: Upstream
  /** The folder that `openCacheFolder` made. */
  readonly cache: string
  /** Bytes of blobs that it may hold, but for those that are needed. */
  readonly cacheSize: number
  /** Whether deltas are answered, where there are any. */
  readonly deltas: boolean
  /** Called when the store is away, and when it is back. */
  readonly onNotice: (text: string) => void
}

/** Builds of a store whose bytes are in a cache, or come there when they are asked for. */
export interface CachedBuilds extends FileProvider {
  /** The store, for messages. */
  readonly place: string
  /** The current one first; all blobs of it are here. */
  readonly generations: readonly Generation[]
  /**
   * Makes `generations` what the store has now.
   *
   * @throws OperatorError where its current one cannot be had; then the first stays, beside what the store has.
   */
  refresh(): Promise<void>
  /**
   * The builds that the store has now, as far as their manifests can be had; their blobs need not be here.
   *
   * @throws OperatorError where it does not answer.
   */
  listBuilds(): Promise<readonly Generation[]>
  /**
   * The deltas of a build. It never rejects.
   *
   * @returns `undefined` where nobody makes any of it, or they cannot be had.
   */
  readDeltas(id: string): Promise<DeltasDocument | undefined>
  /** The file of a blob, whether it is there or not. */
  fileOf(sha256: string): string
  /** Makes sure that the file of a blob is there, with its bytes. */
  fetch(blob: NamedBlob): Promise<'fetched' | 'missing'>
}

/**
 * A store's builds in a folder on this machine. Several processes may share the folder: what is in it is written aside
 * and renamed, and what another one took away is fetched again.
 */
export interface Mirror extends CachedBuilds, StoreView {
  /** The folder. */
  readonly cache: string
  /** How often the deltas of a build could not be read because the store was away: then it is to be loaded again. */
  readonly missedDeltas: number
  /**
   * Looks at what the store has now.
   *
   * @returns the ids of its builds, the current one first; `undefined` while it does not answer.
   */
  look(): Promise<readonly string[] | undefined>
  /**
   * As `refresh`, from what the cache has.
   *
   * @param reason - why the store's own will not do.
   * @returns whether the cache has anything that the store, as far as it has answered, has not taken out.
   */
  refreshFromCache(reason: OperatorError): Promise<boolean>
  /** What is served is not taken away, whatever becomes current. */
  noteServed(id: string): void
}

/** Room that is made for a manifest or a history at a time: the manifest of 5,000 files has about as many bytes. */
const documentSize = 1024 * 1024

export function openMirror({ upstream, cache, cacheSize, deltas, onNotice }: MirrorOptions): Mirror {
  let generations: readonly Generation[] = []
  let served: Generation | undefined
  let fetched: Generation | undefined
  let missedDeltas = 0
  /** What the store had when it was read last: what was purged is not served from the cache either. */
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

  /** @param mayLack - whether it is an error of a kept build that is no reason to do without it. */
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
        else onNotice(`no deltas are answered: ${reasonOf(error)}`)
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
      // Last: who boots from the cache finds all that it names.
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

/** A build with the others that a store has. */
export function withCurrent(current: Generation, builds: readonly Generation[]): readonly Generation[] {
  return [current, ...builds.filter(({ id }) => id !== current.id)]
}

/** The builds that a history names, each once, the current one first. */
function idsOf({ history }: History): readonly string[] {
  return [...new Set(history.map(({ id }) => id))]
}

/** A build that was taken out of the store meanwhile, or cannot be read, is no reason to refuse the current one. */
function isOfBuild(error: unknown): boolean {
  return (
    error instanceof OperatorError &&
    (error.code === 'SD_GENERATION_MISSING' || error.code === 'SD_STORE_INVALID')
  )
}
