import { retireFiles } from '../files/inspect-files.ts'
import { coalesceRuns } from '../files/coalesce-runs.ts'
import { type LoadedBuild, loadBuild, retireBuild } from '../load/load-build.ts'
import type { ResolvedLiveSiteOptions } from '../load/load-options.ts'
import { type BuildPlace, openSource } from '../load/open-source.ts'
import type { WatchedBuilds } from '../load/watched-builds.ts'
import { servedBuild, siteCounts } from '../site/site.ts'
import type { SiteFollower, SiteHolder } from '../site/site-holder.ts'
import { earlierBuilds, buildFiles, type LiveState, replaceBuild } from './live-state.ts'
import { problemLines } from './problem-lines.ts'
import { createBuildRefresh } from './refresh-for-missing-asset.ts'
import type { PrepareOutcome, ReloadOutcome } from './reload-outcome.ts'

/** A site that another build can take the place of. */
export interface LiveSite extends SiteHolder {
  /**
   * Loads the build that the folder has now beside the one that is served, checks it, and puts it in its
   * place by one assignment. Requests that were decided before end on the old bytes.
   *
   * One reload runs at a time: calls during one all get the outcome of one more, which begins after it.
   * It never rejects: what cannot be served is refused.
   */
  reload(): Promise<ReloadOutcome>
  /** Lets go of the files that are kept open, each as soon as nobody reads from it. */
  close(): void
}

/** A site whose reload somebody else decides on, in two steps. */
export interface StagedSite extends LiveSite {
  /** Tells of each build that becomes current in a store. */
  readonly watched?: WatchedBuilds | undefined
  /** Tells somebody of the site that is served, and of each that takes its place. */
  follow(follower: SiteFollower): void
  /** Loads the build that the folder has now, checks it, and keeps it beside the one that is served. It never rejects. */
  prepare(): Promise<PrepareOutcome>
  /** Puts what was prepared in its place, if anything was. */
  swap(): void
  /** Lets go of what was prepared, if anything was, and of files of earlier builds that the source has no more. It never rejects. */
  drop(): Promise<void>
}

/** As `openLiveSite`, for callers that decide themselves when another build is loaded. */
export async function openStagedSite(
  place: BuildPlace,
  options: ResolvedLiveSiteOptions,
): Promise<StagedSite> {
  const resolved = { ...options, needsEnvironment: true, digests: new Map() }
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
      // No manifest where there was one means "not yet", never a folder to be described.
      const { hasManifest: needsManifest } = state.served
      const earlier = earlierBuilds(state.served)
      loaded = await loadBuild(source, { ...resolved, needsManifest, isStart: false, earlier })
    } catch (error) {
      return { status: 'refused', buildId: state.served.site.buildId, problems: problemLines(error) }
    }
    if (loaded.identity !== state.served.identity) await state.follower?.prepare(loaded.site)
    const before = servedBuild(state.served.site)
    if (state.isClosed || loaded.identity === state.served.identity) {
      retireBuild(loaded)
      return { status: 'unchanged', ...before }
    }
    prepared = loaded
    const after = servedBuild(loaded.site)
    const hasNewValues = after.buildId === before.buildId && after.environment !== before.environment
    return {
      status: 'prepared',
      ...after,
      replaces: before.buildId,
      ...(hasNewValues && { hasNewValues }),
      ...siteCounts(loaded.site),
    }
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

  async function reload(): Promise<ReloadOutcome> {
    const outcome = await prepare()
    if (outcome.status === 'refused') await drop()
    if (outcome.status !== 'prepared') return outcome
    swap()
    const { replaces: replaced, ...build } = outcome
    return { ...build, status: 'swapped', replaced }
  }

  return Object.assign(holder, {
    store: source.store,
    watched: source.watched,
    follow(follower: SiteFollower) {
      state.follower = follower
      follower.swap(state.served.site)
    },
    // Tabs may be ahead of this replica.
    ...(source.listBuilds !== undefined && { refreshForMissingAsset }),
    prepare,
    swap,
    drop,
    reload: coalesceRuns(reload),
    close() {
      state.isClosed = true
      source.close?.()
      letGo()
      retireFiles(buildFiles(state.served))
    },
  })
}
