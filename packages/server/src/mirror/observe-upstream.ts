import { OperatorError } from '@serve-dist/manifest'
import { currentKey, type History } from '@serve-dist/store'
import type { StoreState } from '../site/store-view.ts'
import type { Upstream } from './upstream.ts'

/** A store, and what its answers show of it. */
export interface ObservedUpstream extends Omit<Upstream, 'readHistory'> {
  readonly state: StoreState
  /** How often it was asked for its history. */
  readonly looks: number
  /**
   * The history that it has now.
   *
   * @throws OperatorError
   */
  readLatest(): Promise<History>
  /** What it has will not do, for this reason. */
  noteUseless(reason: OperatorError): void
}

/** How it is told that a store is away, and back. */
interface Listener {
  /** Whether builds of it are served: then its objects do not vanish. */
  readonly isServed: () => boolean
  readonly onNotice: (text: string) => void
}

export function observeUpstream(upstream: Upstream, { isServed, onNotice }: Listener): ObservedUpstream {
  const { place } = upstream
  let looks = 0
  let state: StoreState = { reachable: true }
  let latest: { readonly history: History; readonly version: string } | undefined

  /** What the store answers shows whether it does. */
  async function ask<Result>(question: () => Promise<Result>): Promise<Result> {
    try {
      const result = await question()
      if (!state.reachable) onNotice(`${place}: answers again`)
      state = { reachable: true }
      return result
    } catch (error) {
      if (state.reachable && error instanceof OperatorError && error.code === 'SD_STORE_UNAVAILABLE') {
        state = unreachableState(error)
        if (isServed()) onNotice(`${state.problem}; serving on what is here`)
      }
      throw error
    }
  }

  /** A folder that is not mounted, or credentials that were taken away, look like a store without objects. */
  async function askForHistory(): ReturnType<Upstream['readHistory']> {
    const found = await upstream.readHistory(latest?.version)
    if (found !== undefined || !isServed()) return found
    throw new OperatorError('SD_STORE_UNAVAILABLE', `${place}: has no ${currentKey} any more`)
  }

  return {
    place,
    get state() {
      return state
    },
    get looks() {
      return looks
    },
    readGeneration: (id) => ask(() => upstream.readGeneration(id)),
    // That there are none shows nothing: a folder which is not mounted has none either.
    readDeltas: (id) => upstream.readDeltas(id),
    async fetchBlob(blob, to) {
      const result = await ask(() => upstream.fetchBlob(blob, to))
      if (result === 'missing') await ask(askForHistory)
      return result
    },
    async readLatest() {
      looks += 1
      const found = await ask(askForHistory)
      if (found === undefined) throw emptyUpstreamError(place)
      if (found !== 'unchanged') latest = found
      if (latest === undefined) throw new TypeError('the store has not told its history')
      return latest.history
    },
    noteUseless(reason) {
      if (latest === undefined && state.reachable) state = unreachableState(reason)
    },
  }
}

export function emptyUpstreamError(place: string): OperatorError {
  return new OperatorError(
    'SD_GENERATION_MISSING',
    `${place}: nothing is published there, or it may not be read; publish a build: serve-dist publish <dir> --store ${place}`,
  )
}

function unreachableState({ message }: OperatorError): Extract<StoreState, { readonly reachable: false }> {
  return { reachable: false, since: new Date().toISOString(), problem: message }
}
