import { retireFiles } from '../files/inspect-files.ts'
import { coalesceRuns } from '../files/coalesce-runs.ts'
import { type BeforeServing, type LoadedBuild, loadBuild, retireBuild } from '../load/load-build.ts'
import type { ResolvedLiveSiteOptions } from '../load/load-options.ts'
import { type BuildPlace, openSource } from '../load/open-source.ts'
import type { WatchedBuilds } from '../load/watched-builds.ts'
import { refuseRemovedBasicAuth } from '../rules/basic-auth.ts'
import { comparedBuild, type Site, siteCounts } from '../site/site.ts'
import type { SiteFollower, SiteHolder } from '../site/site-holder.ts'
import { earlierBuilds, buildFiles, type LiveState, replaceBuild } from './live-state.ts'
import { problemLines } from './problem-lines.ts'
import { createBuildRefresh } from './refresh-for-missing-asset.ts'
import type { PrepareOutcome, ReloadOutcome } from './reload-outcome.ts'

/** A site whose build can be replaced. */
export interface LiveSite extends SiteHolder {
  /**
   * Loads and checks the latest build of the folder, and replaces the current build by one assignment. Running responses
   * continue with the old bytes.
   *
   * One reload runs at a time. Calls during a reload share one further reload. It never rejects; the outcome describes an
   * unusable build.
   */
  reload(): Promise<ReloadOutcome>
  /** Closes the open files, each after its last reader has finished. */
  close(): void
}

/** A site whose caller controls a reload in two steps. */
export interface StagedSite extends LiveSite {
  /** How to watch a store for another build. Absent for a folder. */
  readonly watched?: WatchedBuilds | undefined
  /** Sets a follower, which receives the current site and each later one. */
  follow(follower: SiteFollower): void
  /** Loads and checks the latest build, and keeps it next to the current one. It never rejects. */
  prepare(): Promise<PrepareOutcome>
  /** Returns the prepared site, or the current one. */
  next(): Site
  /** Replaces the current build by the prepared one, if there is one. */
  swap(): void
  /** Drops the prepared build, and files of earlier builds that the source no longer has. It never rejects. */
  drop(): Promise<void>
}

/** Opens a site like `openLiveSite`, for callers that control when another build is loaded. */
export async function openStagedSite(
  place: BuildPlace,
  options: ResolvedLiveSiteOptions,
  beforeServing?: BeforeServing,
): Promise<StagedSite> {
  const resolved = { ...options, needsEnvironment: true, digests: new Map(), beforeServing }
  const source = await openSource(place, resolved)
  const start = { ...resolved, needsManifest: false, isStart: true, earlier: [] }
  const served = await loadBuild(source, start).catch((error: unknown) => {
    source.close?.()
    throw error
  })
  source.noteServed?.(served.site.buildId)
  const holder = { current: served.site }
  const state: LiveState = { served, holder, follower: undefined, isClosed: false }
  const { joinListed, refreshForMissingAsset } = createBuildRefresh(state, source)
  let prepared: LoadedBuild | undefined

  async function prepare(): Promise<PrepareOutcome> {
    letGo()
    let loaded: LoadedBuild
    try {
      await source.refresh?.()
      // If a manifest existed before, a missing one means that a build is running.
      const { hasManifest: needsManifest } = state.served
      const earlier = earlierBuilds(state.served)
      loaded = await loadBuild(source, {
        ...resolved,
        needsManifest,
        isStart: false,
        earlier,
        beforeServing: async (site) => {
          refuseRemovedBasicAuth(state.served.site, site)
          await beforeServing?.(site)
        },
      })
    } catch (error) {
      return { status: 'refused', buildId: state.served.site.buildId, problems: problemLines(error) }
    }
    if (loaded.identity !== state.served.identity) await state.follower?.prepare(loaded.site)
    const before = comparedBuild(state.served.site)
    if (state.isClosed || loaded.identity === state.served.identity) {
      retireBuild(loaded)
      return { status: 'unchanged', ...before }
    }
    prepared = loaded
    return preparedOutcome(state.served.site, loaded.site)
  }

  function swap(): void {
    if (prepared === undefined) return
    replaceBuild(state, prepared)
    source.noteServed?.(prepared.site.buildId)
    prepared = undefined
  }

  function letGo(): void {
    if (prepared !== undefined) retireBuild(prepared)
    prepared = undefined
  }

  async function drop(): Promise<void> {
    letGo()
    await joinListed()
  }

  const staged: StagedSite = Object.assign(holder, {
    next: () => prepared?.site ?? holder.current,
    store: source.store,
    watched: source.watched,
    follow(follower: SiteFollower) {
      state.follower = follower
      follower.swap(state.served.site)
    },
    // Open tabs may have a newer build than this replica.
    ...(source.listBuilds !== undefined && { refreshForMissingAsset }),
    prepare,
    swap,
    drop,
    reload: coalesceRuns(() => reloadStaged(staged)),
    close() {
      state.isClosed = true
      source.close?.()
      letGo()
      retireFiles(buildFiles(state.served))
    },
  })
  return staged
}

/** Loads, checks and activates the latest build. */
export async function reloadStaged(staged: StagedSite): Promise<ReloadOutcome> {
  const outcome = await staged.prepare()
  if (outcome.status === 'refused') await staged.drop()
  if (outcome.status !== 'prepared') return outcome
  staged.swap()
  const { replaces: replaced, ...build } = outcome
  return { ...build, status: 'swapped', replaced }
}

/** Describes the difference between the current site and the prepared one. */
export function preparedOutcome(
  current: Site,
  next: Site,
): Extract<PrepareOutcome, { readonly status: 'prepared' }> {
  const [before, after] = [comparedBuild(current), comparedBuild(next)]
  const isSame = after.buildId === before.buildId
  const hasNewValues = isSame && after.environment !== before.environment
  const hasNewRules = isSame && !hasNewValues && after.rulesDigest !== before.rulesDigest
  return {
    status: 'prepared',
    ...after,
    replaces: before.buildId,
    ...(hasNewValues && { hasNewValues }),
    ...(hasNewRules && { hasNewRules }),
    ...siteCounts(next),
  }
}
