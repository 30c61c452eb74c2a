import { retireFiles } from '../files/inspect-files.ts'
import type { EarlierBuild } from '../load/select-kept-builds.ts'
import type { LoadedBuild } from '../load/load-build.ts'
import type { Site, StoredBytes } from '../site/site.ts'
import type { SiteFollower } from '../site/site-holder.ts'

export interface LiveState {
  served: LoadedBuild
  /** Hosts read the site from it for each request. */
  readonly holder: { current: Site }
  follower: SiteFollower | undefined
  isClosed: boolean
}

/** Replaces the current build and closes the files that only the earlier build uses. */
export function replaceBuild(state: LiveState, next: LoadedBuild): void {
  const before = state.served
  state.follower?.swap(next.site)
  state.served = next
  state.holder.current = next.site
  const still = new Set(buildFiles(next))
  retireFiles(buildFiles(before).filter((stored) => !still.has(stored)))
}

/** Returns the bytes of a build and of the earlier builds that it keeps. */
export function buildFiles({ build, kept }: LoadedBuild): readonly StoredBytes[] {
  return [build.current, ...kept].flatMap(({ stored }) => Array.from(stored.values()))
}

/** Returns the builds that would be earlier ones after a swap, the newest first. */
export function earlierBuilds({ build, kept }: LoadedBuild): readonly EarlierBuild[] {
  return [{ ...build.current, superseded: Date.now() }, ...kept]
}
