import { coalesceRuns } from '../files/coalesce-runs.ts'
import { throttleRefresh } from '../files/throttle-refresh.ts'
import type { BuildSource } from '../load/build-source.ts'
import { joinSite } from '../load/join-site.ts'
import type { EarlierBuild } from '../load/select-kept-builds.ts'
import { earlierBuilds, type LiveState, replaceBuild } from './live-state.ts'

/** How a site gets the builds that other replicas serve already. */
export interface BuildRefresh {
  /**
   * Answers hashed files of the builds that the source has now besides the current one. It never rejects.
   *
   * @returns the earlier builds from before, if they have changed.
   */
  readonly joinListed: () => Promise<readonly EarlierBuild[] | undefined>
  /** As `SiteHolder` has it. */
  readonly refreshForMissingAsset: () => Promise<void>
}

export function createBuildRefresh(state: LiveState, source: BuildSource): BuildRefresh {
  // In turn: an older list of builds must not replace a newer one.
  const joinListed = coalesceRuns(() => joinListedBuilds(state, source).catch(() => undefined))

  /** Other replicas may serve pages of a newer build: its hashed files are answered at once, while all of it is loaded. */
  async function refresh(): Promise<void> {
    const before = await joinListed()
    if (before === undefined) return
    const loading = (source.lookNow ?? source.watched?.lookNow)?.()
    // If none of its files joined, only the whole build may have the missing file.
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
