import type { NamedBlob } from '@serve-dist/store'
import { throttleRefresh } from '../files/throttle-refresh.ts'
import { cacheGeneration, type Generation } from './cached-generation.ts'
import { type Mirror, withCurrent } from './open-mirror.ts'

/** What a process asks of the one that alone asks the store; both read the same cache. */
export type StoreRequest =
  | { readonly kind: 'builds'; readonly isStart: boolean }
  /** Puts the manifest of a build in its place in the cache. */
  | { readonly kind: 'generation'; readonly id: string }
  /** Puts the deltas of a build in their place in the cache; they are not there where none are to be answered. */
  | { readonly kind: 'deltas'; readonly id: string }
  /** Puts a blob in its place in the cache. */
  | { readonly kind: 'blob'; readonly blob: NamedBlob }
  /** Looks which builds the store has now, at most once a second for all who ask. */
  | { readonly kind: 'listBuilds' }
  /** Has all load what the store has now, and settles when they do. */
  | { readonly kind: 'load' }

/** Plain data. */
export interface StoreResponse {
  readonly place: string
  readonly cache: string
  /** The builds to be served, or for `listBuilds` those of the store; the current one first. */
  readonly ids: readonly string[]
  /** Whether what was asked for is in its place. */
  readonly isThere: boolean
}

/** @throws OperatorError where the store cannot be reached. */
export type SendStoreRequest = (question: StoreRequest) => Promise<StoreResponse>

/** A mirror that other processes serve from. */
export interface SharedMirror {
  readonly answer: SendStoreRequest
  /** As that of the mirror: who asks from now on gets what it finds. */
  refresh(): Promise<void>
  /** All serve what the mirror has: it is what a process that starts later gets, whatever is found and refused meanwhile. */
  noteServed(): void
}

/** @param load - has all load what is current, if it is another one. It never rejects. */
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
