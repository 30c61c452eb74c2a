import { describeReload } from './describe-reload.ts'
import type { JoinedSite } from '../load/join-site.ts'
import type { EarlierBuild } from '../load/keep-earlier.ts'
import { loadBuild, type LoadedBuild } from '../load/load-build.ts'
import { retireFiles } from '../files/inspect-files.ts'
import { oneAtATime } from '../files/one-at-a-time.ts'
import { shareLook } from '../files/share-look.ts'
import type { StoredBuild } from '../site/kept-build.ts'
import {
  servedBuild,
  siteCounts,
  type SiteFollower,
  type SiteHolder,
  type StoredBytes,
} from '../site/site.ts'
import { loadDefaults, resolveLiveSiteOptions, type LiveSiteOptions } from '../load/load-options.ts'
import { type BuildPlace, openSource } from '../load/open-source.ts'
import type { PrepareOutcome, ReloadOutcome } from './reload-outcome.ts'
import { problemsOf } from './problems-of.ts'
import { type StoreOptions, withoutStore } from '../load/store-options.ts'
import type { WatchedBuilds } from '../load/watched-builds.ts'
import { followBuilds } from './watch-build.ts'

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

/**
 * Loads a build for hosts that swap it for a newer one later.
 *
 * @throws OperatorError when the folder cannot be served, or an option is wrong.
 */
export async function openLiveSite(directory: string, options?: LiveSiteOptions): Promise<LiveSite>
/**
 * Loads the current build of a store, and puts each one that becomes current in its place. Where the store cannot be
 * reached, the build that the cache on this machine has is served until it can.
 *
 * @throws OperatorError when neither has a build that can be served, or an option is wrong.
 */
export async function openLiveSite(options: LiveSiteOptions & StoreOptions): Promise<LiveSite>
export async function openLiveSite(
  from: string | (LiveSiteOptions & StoreOptions),
  options: LiveSiteOptions = {},
): Promise<LiveSite> {
  if (typeof from !== 'object' || from === null) return await openStagedSite(from, options)
  const given = withoutStore(from)
  const live = await openStagedSite(from, given)
  const following = followStore(live, () => live.reload(), given)
  const close = live.close.bind(live)
  return Object.assign(live, {
    close() {
      following.close()
      close()
    },
  })
}

/** Takes each build that becomes current in the store of a site, if it has one. */
export function followStore(
  { watched }: Pick<StagedSite, 'watched'>,
  reload: () => Promise<ReloadOutcome>,
  { onWarning = loadDefaults.onWarning }: LiveSiteOptions = {},
): { close(): void } {
  if (watched === undefined) return { close() {} }
  return followBuilds(watched, reload, (outcome) => {
    if (outcome.status === 'refused') onWarning(describeReload(outcome))
  })
}

/** As {@link openLiveSite}, for who decides himself when another build is loaded. */
export async function openStagedSite(place: BuildPlace, options: LiveSiteOptions): Promise<StagedSite> {
  const resolved = { ...resolveLiveSiteOptions(options), needsEnvironment: true, digests: new Map() }
  const source = await openSource(place, resolved)
  const start = { ...resolved, needsManifest: false, isStart: true, earlier: [] }
  let served = await loadBuild(source, start).catch((error: unknown) => {
    source.close?.()
    throw error
  })
  const { watched } = source
  source.noteServed?.(served.site.buildId)
  let prepared: LoadedBuild | undefined
  let follower: SiteFollower | undefined
  let isClosed = false

  const earlierBuilds = (): readonly EarlierBuild[] => [
    { ...served.build, superseded: Date.now() },
    ...served.kept,
  ]

  async function prepare(): Promise<PrepareOutcome> {
    letGo()
    // No manifest where there was one means "not yet", never a folder to be described.
    const needsManifest = served.hasManifest
    let loaded: LoadedBuild
    try {
      await source.refresh?.()
      const earlier = earlierBuilds()
      loaded = await loadBuild(source, { ...resolved, needsManifest, isStart: false, earlier })
    } catch (error) {
      return { status: 'refused', buildId: served.site.buildId, problems: problemsOf(error) }
    }
    if (loaded.identity !== served.identity) await follower?.prepare(loaded.site)
    const before = servedBuild(served.site)
    if (isClosed || loaded.identity === served.identity) {
      loaded.retire()
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
    const before = served
    serveNow(prepared)
    prepared = undefined
    source.noteServed?.(served.site.buildId)
    const kept = new Set(filesOf(served.kept))
    retireFiles(filesOf([before.build, ...before.kept]).filter((stored) => !kept.has(stored)))
  }

  function serveNow(build: LoadedBuild): void {
    follower?.swap(build.site)
    served = build
    live.current = build.site
  }

  /** The same build, with other things beside it; they are joined anew where others joined meanwhile. */
  async function putInPlace(join: () => JoinedSite): Promise<void> {
    const before = served
    const joined = join()
    await follower?.prepare(joined.site)
    if (isClosed || served.build !== before.build) return
    if (served !== before) return await putInPlace(join)
    serveNow({ ...before, ...joined })
    const still = new Set(filesOf(served.kept))
    retireFiles(filesOf(before.kept).filter((stored) => !still.has(stored)))
  }

  /**
   * Answers hashed files of the builds that the source has now besides the one that is served.
   *
   * @returns the builds of before, where those were others.
   */
  async function keepListed(): Promise<readonly EarlierBuild[] | undefined> {
    const { site, keptIdentity } = served
    const kept = await source.peek?.(site.buildId)
    if (isClosed || kept === undefined || kept.identity === keptIdentity || served.site !== site)
      return undefined
    const before = served.kept
    await putInPlace(() => served.withKept(kept, earlierBuilds()))
    return before
  }
  // In turn: what was read first would else take back what was read later.
  const keepInTurn = oneAtATime(() => keepListed().catch(() => undefined))

  /** Hashed files of a newer build are answered at once, while all of it is loaded: other replicas serve its pages. */
  async function lookAgain(): Promise<void> {
    const before = await keepInTurn()
    if (before === undefined) return
    const loading = (source.lookNow ?? watched?.lookNow)?.()
    // Where no file of it joined, only the whole build may have what was asked for.
    const known = new Set(before.map(({ manifest }) => manifest.buildId))
    if (served.kept.every(({ manifest }) => known.has(manifest.buildId))) await loading
  }

  function letGo(): void {
    prepared?.retire()
    prepared = undefined
  }

  async function drop(): Promise<void> {
    letGo()
    await keepInTurn()
  }

  const live: Writable<StagedSite> = {
    current: served.site,
    store: source.store,
    watched,
    follow(given) {
      follower = given
      given.swap(served.site)
    },
    // Tabs may be ahead of this replica.
    ...(source.peek !== undefined && { lookAgain: shareLook(lookAgain) }),
    prepare,
    swap,
    drop,
    reload: oneAtATime(async () => {
      const outcome = await prepare()
      if (outcome.status === 'refused') await drop()
      if (outcome.status !== 'prepared') return outcome
      swap()
      const { replaces: replaced, ...build } = outcome
      return { ...build, status: 'swapped', replaced }
    }),
    close() {
      isClosed = true
      source.close?.()
      letGo()
      retireFiles(filesOf([served.build, ...served.kept]))
    },
  }
  return live
}

function filesOf(builds: readonly StoredBuild[]): readonly StoredBytes[] {
  return builds.flatMap(({ stored }) => [...stored.values()])
}

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] }
