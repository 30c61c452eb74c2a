import { OperatorError, reasonOf } from '@serve-dist/manifest'
import { loadBuild, type LoadedBuild } from './load-build.ts'
import { oneAtATime } from '../files/one-at-a-time.ts'
import { type ServedBuild, servedBuild, type SiteHolder } from '../site/site.ts'
import { resolveSiteStoreOptions, type SiteStoreOptions } from './load-options.ts'

/** What became of a reload; plain data, so that a worker can tell its primary. */
export type ReloadOutcome =
  | (NewBuild & { readonly status: 'swapped'; readonly replaced: string })
  | SameBuild
  | ReloadRefusal

/** A build that takes the place of another one. */
interface NewBuild extends ServedBuild {
  /** Whether the build is the one of before, and the values of its environment are other ones. */
  readonly hasNewValues?: true
  /** Files in its folder that its manifest does not list. */
  readonly unlistedFiles: number
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

/** A site that another build can take the place of. */
export interface SiteStore extends SiteHolder {
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

/** A store whose reload somebody else decides on, in two steps. */
export interface StagedSiteStore extends SiteStore {
  /** Loads the build that the folder has now, checks it, and keeps it beside the one that is served. It never rejects. */
  prepare(): Promise<PrepareOutcome>
  /** Puts what was prepared in its place, if anything was. */
  swap(): void
  /** Lets go of what was prepared, if anything was. */
  drop(): void
}

/**
 * Loads a build for hosts that swap it for a newer one later.
 *
 * @throws OperatorError when the folder cannot be served, or an option is wrong.
 */
export async function openSiteStore(directory: string, options: SiteStoreOptions = {}): Promise<SiteStore> {
  return await openStagedSiteStore(directory, options)
}

/** As {@link openSiteStore}, for a worker. */
export async function openStagedSiteStore(
  directory: string,
  options: SiteStoreOptions,
): Promise<StagedSiteStore> {
  const resolved = { ...resolveSiteStoreOptions(options), needsEnvironment: true, digests: new Map() }
  let served = await loadBuild(directory, { ...resolved, needsManifest: false, isStart: true })
  let prepared: LoadedBuild | undefined
  let isClosed = false

  async function prepare(): Promise<PrepareOutcome> {
    drop()
    // No manifest where there was one means "not yet", never a folder to be described.
    const needsManifest = served.hasManifest
    let loaded: LoadedBuild
    try {
      loaded = await loadBuild(directory, { ...resolved, needsManifest, isStart: false })
    } catch (error) {
      return { status: 'refused', buildId: served.site.buildId, problems: problemsOf(error) }
    }
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
      unlistedFiles: loaded.site.summary.unlistedFiles,
    }
  }

  function swap(): void {
    if (prepared === undefined) return
    const before = served
    served = prepared
    store.current = served.site
    prepared = undefined
    before.retire()
  }

  function drop(): void {
    prepared?.retire()
    prepared = undefined
  }

  const store: Writable<StagedSiteStore> = {
    current: served.site,
    prepare,
    swap,
    drop,
    reload: oneAtATime(async () => {
      const outcome = await prepare()
      if (outcome.status !== 'prepared') return outcome
      swap()
      const { replaces: replaced, ...build } = outcome
      return { ...build, status: 'swapped', replaced }
    }),
    close() {
      isClosed = true
      drop()
      served.retire()
    },
  }
  return store
}

type Writable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof OperatorError) return error.problems
  return [reasonOf(error)]
}
