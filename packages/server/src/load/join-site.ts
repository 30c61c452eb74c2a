import { buildSite } from '../site/build-site.ts'
import type { StoredBuild } from '../site/kept-build.ts'
import type { ResolvedServing } from '../site/resolve-serving.ts'
import type { Site } from '../site/site.ts'
import type { KeptBySource } from './build-source.ts'
import { type EarlierBuild, selectKeptBuilds, type KeepLimits } from './select-kept-builds.ts'

/** A build whose files were read, and how it is served. */
export interface ReadBuild {
  readonly current: StoredBuild
  readonly serving: ResolvedServing
  /** As the operator named it. */
  readonly place: string
  readonly unlistedFiles: number
  readonly limits: Pick<KeepLimits, 'memoryBudget' | 'openFiles'>
}

/** The table of a build, with files of earlier ones. */
export interface JoinedSite {
  readonly site: Site
  /** The earlier builds of which it answers files. */
  readonly kept: readonly EarlierBuild[]
  /** Which builds its source keeps beside it; `''` where it keeps none. */
  readonly keptIdentity: string
}

/**
 * Builds the table that requests are answered from.
 *
 * @param before - builds that were served before, the newest first.
 * @param source - where builds of before come from the store of the build itself.
 * @returns the problems of its rules as well.
 */
export function joinSite(
  { current, serving, place, unlistedFiles, limits }: ReadBuild,
  before: readonly EarlierBuild[],
  source: KeptBySource | undefined,
): { readonly joined: JoinedSite; readonly problems: readonly string[] } {
  const builds = source?.builds(before) ?? before
  const kept = selectKeptBuilds(current, serving, builds, {
    ...limits,
    now: Date.now(),
    coldBytesOf: source?.coldBytesOf,
  })
  const { site, problems } = buildSite(current, serving, kept)
  const summary = { ...site.summary, unlistedFiles }
  const ofStore = source === undefined ? {} : { store: place }
  const keptIdentity = source?.identity ?? ''
  return { joined: { site: { ...site, ...ofStore, summary }, kept, keptIdentity }, problems }
}
