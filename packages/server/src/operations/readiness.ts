import type { StoreState } from '../site/store-view.ts'

/** The JSON of `/readyz`. */
export interface Readiness {
  /** Requests may be sent to this server only if it is `ready`. */
  readonly status: 'starting' | 'ready' | 'draining'
  /** The served build; absent before the first one is loaded. */
  readonly buildId?: string | undefined
  /** The digest of the environment module; absent if the build reads no environment variables. */
  readonly environment?: string | undefined
  /** Files in the folder that the manifest does not list; absent before the first build is loaded. */
  readonly unlistedFiles?: number | undefined
  /** Earlier builds with served files; absent before the first build is loaded. */
  readonly keptBuilds?: number | undefined
  /** Served files of earlier builds. */
  readonly keptFiles?: number | undefined
  /**
   * Whether the store is reachable; absent without a store. An unreachable store does not affect the
   * status.
   */
  readonly store?: string | undefined
  readonly reload: LastReload
}

/** The last reload. */
export interface LastReload {
  /** The number of reloads since the start; scripts wait until it increases. */
  readonly number: number
  readonly outcome?: ReloadResult['status']
  /** Why the new build was rejected, one line each. */
  readonly problems: readonly string[]
  /** The time of its end: ISO 8601, UTC. */
  readonly time?: string
}

/** The result of a reload. */
export interface ReloadResult {
  readonly status: 'swapped' | 'unchanged' | 'refused'
  readonly problems?: readonly string[]
}

/** Returns `reachable`, or since when and why the store is unreachable. */
export function describeStore(state: StoreState): string {
  return state.reachable ? 'reachable' : `unreachable since ${state.since}: ${state.problem}`
}

/** The state before the first reload. */
export const noReload: LastReload = { number: 0, problems: [] }

/** Returns the state after a reload that ends now. */
export function nextReload({ number }: LastReload, { status, problems = [] }: ReloadResult): LastReload {
  return { number: number + 1, outcome: status, problems, time: new Date().toISOString() }
}
