import type { NamedBlob } from '@serve-dist/store'
import { throttleRefresh } from '../files/throttle-refresh.ts'
import { cacheGeneration, type Generation } from './cached-generation.ts'
import { type Mirror, withCurrent } from './open-mirror.ts'

/** Requests to the one process that accesses the store. All processes read the same cache. */
export type StoreRequest =
  | { readonly kind: 'builds'; readonly isStart: boolean }
  /** Writes the manifest of a build to the cache. */
  | { readonly kind: 'generation'; readonly id: string }
  /** Writes the deltas of a build to the cache, if deltas are served. */
  | { readonly kind: 'deltas'; readonly id: string }
  /** Fetches a blob into the cache. */
  | { readonly kind: 'blob'; readonly blob: NamedBlob }
  /** Lists the builds of the store, at most once per second for all processes. */
  | { readonly kind: 'listBuilds' }
  /** Makes all processes load the store's current build, and settles when they have. */
  | { readonly kind: 'load' }

/** The response; plain data. */
export interface StoreResponse {
  readonly place: string
  readonly cache: string
  /** The builds to serve, or for `listBuilds` those of the store; the current one first. */
  readonly ids: readonly string[]
  /** Whether the requested file is in the cache. */
  readonly isThere: boolean
}

/** @throws OperatorError if the store is unreachable. */
export type SendStoreRequest = (question: StoreRequest) => Promise<StoreResponse>

/** A mirror that other processes use. */
export interface SharedMirror {
  readonly answer: SendStoreRequest
  /** Refreshes the mirror. Later requests get the result. */
  refresh(): Promise<void>
  /**
   * Records that all processes serve the mirror's builds. Processes that start later get these, even if a
   * newer build was rejected.
   */
  noteServed(): void
}

/** @param load - makes all processes load the current build if it is new. It must not reject. */
export function shareMirror(mirror: Mirror, load: () => Promise<unknown>): SharedMirror {
  const { place, cache } = mirror
  let served = mirror.generations
  let seen = mirror.generations
  const refreshList = throttleRefresh(async () => {
    seen = await mirror.listBuilds()
  })

  async function prepare(question: StoreRequest): Promise<boolean> {
    switch (question.kind) {
      case 'builds':
        return true
      case 'listBuilds':
        await refreshList()
        return true
      case 'load':
        await load()
        return true
      case 'deltas':
        return (await mirror.readDeltas(question.id)) !== undefined
      case 'blob':
        return (await mirror.fetch(question.blob)) === 'fetched'
      default:
        return await restore(question.id)
    }
  }

  async function restore(id: string): Promise<boolean> {
    const found = [...mirror.generations, ...served, ...seen].find((each) => each.id === id)
    if (found !== undefined) await cacheGeneration(cache, found.id, found.manifest)
    return found !== undefined
  }

  function buildsFor(question: StoreRequest): readonly Generation[] {
    if (question.kind === 'listBuilds') return seen
    if (question.kind !== 'builds' || !question.isStart) return mirror.generations
    const [current] = served
    return current === undefined ? [] : withCurrent(current, seen)
  }

  const shared: SharedMirror = {
    async answer(question) {
      const isThere = await prepare(question)
      const ids = buildsFor(question).map(({ id }) => id)
      return { place, cache, ids, isThere }
    },
    async refresh() {
      await mirror.refresh().catch(async (error: unknown) => {
        seen = await mirror.listBuilds().catch(() => seen)
        throw error
      })
      seen = mirror.generations
    },
    noteServed() {
      served = mirror.generations
      const [current] = served
      if (current !== undefined) mirror.noteServed(current.id)
    },
  }
  shared.noteServed()
  return shared
}
