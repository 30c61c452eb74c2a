import type { ServedBuild, SiteCounts } from '../site/site.ts'

/** The outcome of a reload. It is plain data, because workers send it to their primary process. */
export type ReloadOutcome =
  | (NewBuild & { readonly status: 'swapped'; readonly replaced: string })
  | SameBuild
  | ReloadRefusal

interface NewBuild extends ServedBuild, SiteCounts {
  /** Whether only the values of the environment have changed. */
  readonly hasNewValues?: true
  /** Whether only the rules, or the values of the environment in them, have changed. */
  readonly hasNewRules?: true
  /** The problems of other builds, which are not replaced; one for each line. */
  readonly problems?: readonly string[]
}

interface SameBuild extends ServedBuild {
  readonly status: 'unchanged'
}

/** The new build is unusable, and the server keeps the current one. */
export interface ReloadRefusal {
  readonly status: 'refused'
  /** The id of the current build; `''` while no worker serves one. */
  readonly buildId: string
  /** The problems, one for each line. */
  readonly problems: readonly string[]
}

/** The outcome of loading a build without serving it. */
export type PrepareOutcome =
  | (NewBuild & { readonly status: 'prepared'; readonly replaces: string })
  | SameBuild
  | ReloadRefusal
