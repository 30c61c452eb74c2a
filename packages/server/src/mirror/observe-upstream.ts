import { OperatorError } from '@serve-dist/manifest'
import { currentKey, type History } from '@serve-dist/store'
import type { StoreState } from '../site/store-view.ts'
import type { Upstream } from './upstream.ts'

/** A store and its observed state. */
export interface ObservedUpstream extends Omit<Upstream, 'readHistory'> {
  readonly state: StoreState
  /** The number of times that the history was read. */
  readonly looks: number
  /**
   * Reads the current history.
   *
   * @throws OperatorError
   */
  readLatest(): Promise<History>
  /** Records why the content of the store is unusable. */
  noteUseless(reason: OperatorError): void
}

/** Receives changes of the store's state. */
interface Listener {
  /** Whether builds of the store are served. Then a missing history means that the store is unreachable. */
  readonly isServed: () => boolean
  readonly onNotice: (text: string) => void
}

export function observeUpstream(upstream: Upstream, { isServed, onNotice }: Listener): ObservedUpstream {
  const { place } = upstream
  let looks = 0
  let state: StoreState = { reachable: true }
  let latest: { readonly history: History; readonly version: string } | undefined

  /** Sends a request to the store and updates the state. */
  async function ask<Result>(question: () => Promise<Result>): Promise<Result> {
    try {
      const result = await question()
      if (!state.reachable) onNotice(`${place}: is reachable again`)
      state = { reachable: true }
      return result
    } catch (error) {
      if (state.reachable && error instanceof OperatorError && error.code === 'SD_STORE_UNAVAILABLE') {
        state = unreachableState(error)
        if (isServed())
          onNotice(`${state.problem.replace(/\.?$/, '.')} The server continues with the cached builds.`)
      }
      throw error
    }
  }

  /** An unmounted folder or revoked credentials look like an empty store. */
  async function askForHistory(): ReturnType<Upstream['readHistory']> {
    const found = await upstream.readHistory(latest?.version)
    if (found !== undefined || !isServed()) return found
    throw new OperatorError(
      'SD_STORE_UNAVAILABLE',
      `${place}: ${currentKey} no longer exists. Check the credentials or the mount, or publish a build.`,
    )
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
    // Missing deltas say nothing about the state, because deltas are also missing in an unmounted folder.
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
      if (latest === undefined) throw new TypeError('the history was not read')
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
    `${place}: the store contains no build, or is not readable. Publish a build: serve-dist publish <dir> --store ${place}`,
  )
}

function unreachableState({ message }: OperatorError): Extract<StoreState, { readonly reachable: false }> {
  return { reachable: false, since: new Date().toISOString(), problem: message }
}
