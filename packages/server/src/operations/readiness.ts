import type { StoreState } from '../site/store-view.ts'

/** What `/readyz` answers, as JSON. */
export interface Readiness {
  /** Whether requests may be sent here: only when `ready`. */
  readonly status: 'starting' | 'ready' | 'draining'
  /** The build that is served; absent before the first one is. */
  readonly buildId?: string | undefined
  /** The digest of the values of its environment, as its module holds them; absent where it takes none. */
  readonly environment?: string | undefined
  /** Files in its folder that its manifest does not list; absent before the first build is served. */
  readonly unlistedFiles?: number | undefined
  /** Earlier builds of which files are answered; absent before the first build is served. */
  readonly keptBuilds?: number | undefined
  /** Those files. */
  readonly keptFiles?: number | undefined
  /** Whether the store of the builds answers; absent without one. It takes no server out: all go on with what they have. */
  readonly store?: string | undefined
  readonly reload: LastReload
}

/** The last reload. */
export interface LastReload {
  /** How many reloads have ended since the start: a script waits for it to rise. */
  readonly number: number
  readonly outcome?: ReloadResult['status']
  /** Why the new build was refused, a line each. */
  readonly problems: readonly string[]
  /** When it ended: ISO 8601, UTC. */
  readonly time?: string
}

/** How a reload ended. */
export interface ReloadResult {
  readonly status: 'swapped' | 'unchanged' | 'refused'
  readonly problems?: readonly string[]
}

/** `reachable`, or since when and why not. */
export function describeStore(state: StoreState): string {
  return state.reachable ? 'reachable' : `unreachable since ${state.since}: ${state.problem}`
}

/** Before the first one. */
export const noReload: LastReload = { number: 0, problems: [] }

/** The reload that ends now, after the one before. */
export function nextReload({ number }: LastReload, { status, problems = [] }: ReloadResult): LastReload {
  return { number: number + 1, outcome: status, problems, time: new Date().toISOString() }
}
