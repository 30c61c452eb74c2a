import type { ServedBuild, SiteCounts } from '../site/site.ts'

/** What became of a reload; plain data, so that a worker can tell its primary. */
export type ReloadOutcome =
  | (NewBuild & { readonly status: 'swapped'; readonly replaced: string })
  | SameBuild
  | ReloadRefusal

/** A build that takes the place of another one. */
interface NewBuild extends ServedBuild, SiteCounts {
  /** Whether the build is the one of before, and the values of its environment are other ones. */
  readonly hasNewValues?: true
}

interface SameBuild extends ServedBuild {
  readonly status: 'unchanged'
}

/** The new build cannot be served; the server keeps the one before. */
export interface ReloadRefusal {
  readonly status: 'refused'
  /** Of the build that is still served; `''` while no worker serves one. */
  readonly buildId: string
  /** What is wrong, a line each. */
  readonly problems: readonly string[]
}

/** What became of a build that was loaded beside the one that is served. */
export type PrepareOutcome =
  | (NewBuild & { readonly status: 'prepared'; readonly replaces: string })
  | SameBuild
  | ReloadRefusal
