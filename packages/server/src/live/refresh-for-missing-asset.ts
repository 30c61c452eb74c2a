import { coalesceRuns } from '../files/coalesce-runs.ts'
import { throttleRefresh } from '../files/throttle-refresh.ts'
import type { BuildSource } from '../load/build-source.ts'
import { joinSite } from '../load/join-site.ts'
import type { EarlierBuild } from '../load/select-kept-builds.ts'
import { earlierBuilds, type LiveState, replaceBuild } from './live-state.ts'

/** How a site finds builds that other replicas already serve. */
export interface BuildRefresh {
  /**
   * Adds the hashed files of all builds that the source has. It never rejects.
   *
   * @returns the previous earlier builds, if they have changed.
   */
  readonly joinListed: () => Promise<readonly EarlierBuild[] | undefined>
  readonly refreshForMissingAsset: () => Promise<void>
}

export function createBuildRefresh(state: LiveState, source: BuildSource): BuildRefresh {
  // One at a time, so that an older list of builds never replaces a newer one.
  const joinListed = coalesceRuns(() => joinListedBuilds(state, source).catch(() => undefined))

  /** Serves hashed files of a newer build, whose pages other replicas may already serve, while that build loads. */
  async function refresh(): Promise<void> {
    const before = await joinListed()
    if (before === undefined) return
    const loading = (source.lookNow ?? source.watched?.lookNow)?.()
    // If no new build joined, only the complete new build can have the missing file.
    const known = new Set(before.map(({ manifest }) => manifest.buildId))
    if (state.served.kept.every(({ manifest }) => known.has(manifest.buildId))) await loading
  }

  return { joinListed, refreshForMissingAsset: throttleRefresh(refresh) }
}

async function joinListedBuilds(
  state: LiveState,
  source: BuildSource,
): Promise<readonly EarlierBuild[] | undefined> {
  const before = state.served
  const listed = await source.listBuilds?.(before.site.buildId)
  const isSame = listed === undefined || listed.identity === before.keptIdentity
  if (state.isClosed || isSame || state.served !== before) return undefined
  const { joined } = joinSite(before.build, earlierBuilds(before), listed)
  await state.follower?.prepare(joined.site)
  if (!state.isClosed && state.served === before) replaceBuild(state, { ...before, ...joined })
  return before.kept
}
