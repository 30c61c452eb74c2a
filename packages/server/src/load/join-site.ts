import { buildSite } from '../site/build-site.ts'
import type { StoredBuild } from '../site/kept-build.ts'
import type { ResolvedServing } from '../site/resolve-serving.ts'
import type { Site } from '../site/site.ts'
import type { KeptBySource } from './build-source.ts'
import { type EarlierBuild, selectKeptBuilds, type KeepLimits } from './select-kept-builds.ts'

/** A build with its files and serving rules. */
export interface ReadBuild {
  readonly current: StoredBuild
  readonly serving: ResolvedServing
  /** The store, as the operator named it; absent for a folder. */
  readonly store: string | undefined
  readonly unlistedFiles: number
  readonly rulesDigest: string | undefined
  readonly limits: Pick<KeepLimits, 'memoryBudget' | 'openFiles'>
}

/** The table of a build, including files of earlier builds. */
export interface JoinedSite {
  readonly site: Site
  /** The earlier builds with files in the table. */
  readonly kept: readonly EarlierBuild[]
  /** The identity of the builds that the source keeps; `''` if it keeps none. */
  readonly keptIdentity: string
}

/**
 * Builds the table that requests are answered from.
 *
 * @param before - builds that were served before, the newest first.
 * @param source - the earlier builds that the source keeps.
 * @returns the table, and the problems with its rules.
 */
export function joinSite(
  { current, serving, store, unlistedFiles, rulesDigest, limits }: ReadBuild,
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
  const ofStore = store === undefined ? {} : { store }
  const ofRules = rulesDigest === undefined ? {} : { rulesDigest }
  const keptIdentity = source?.identity ?? ''
  return { joined: { site: { ...site, ...ofStore, ...ofRules, summary }, kept, keptIdentity }, problems }
}
