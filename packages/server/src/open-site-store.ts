import { loadBuild, type LoadedBuild } from './load-build.ts'
import type { Site } from './site.ts'
import { SiteError } from './site-error.ts'
import type { SiteHolder } from './site-holder.ts'
import { resolveSiteStoreOptions, type SiteStoreOptions } from './site-store-options.ts'

/** What became of a reload; plain data, so that a worker can tell its primary. */
export type ReloadOutcome =
  | { readonly status: 'swapped'; readonly buildId: string; readonly replaced: string }
  | { readonly status: 'unchanged'; readonly buildId: string }
  | ReloadRefusal

/** The new build cannot be served; the one before is served on. */
export interface ReloadRefusal {
  readonly status: 'refused'
  /** Of the build that is served on. */
  readonly buildId: string
  /** What is wrong, a line each. */
  readonly problems: readonly string[]
}

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

/**
 * Loads a build for hosts that swap it for a newer one later.
 *
 * @throws SiteError when the folder cannot be served, TypeError for a wrong option.
 */
export async function openSiteStore(directory: string, options: SiteStoreOptions = {}): Promise<SiteStore> {
  const resolved = resolveSiteStoreOptions(options)
  let served = await loadBuild(directory, { ...resolved, needsManifest: false })
  let running: Promise<ReloadOutcome> | undefined
  let queued: Promise<ReloadOutcome> | undefined
  let isClosed = false

  async function reload(): Promise<ReloadOutcome> {
    // No manifest where there was one means "not yet", never a folder to be described.
    const needsManifest = served.hasManifest
    let loaded: LoadedBuild
    try {
      loaded = await loadBuild(directory, { ...resolved, needsManifest })
    } catch (error) {
      return { status: 'refused', buildId: served.site.buildId, problems: problemsOf(error) }
    }
    const { buildId: replaced } = served.site
    const { buildId } = loaded.site
    if (isClosed || loaded.identity === served.identity) {
      loaded.retire()
      return { status: 'unchanged', buildId: replaced }
    }
    const before = served
    served = loaded
    before.retire()
    return { status: 'swapped', buildId, replaced }
  }

  function begin(): Promise<ReloadOutcome> {
    queued = undefined
    const begun = reload().finally(() => {
      running = queued
    })
    running = begun
    return begun
  }

  return {
    get current(): Site {
      return served.site
    },
    reload() {
      if (running === undefined) return begin()
      queued ??= running.then(begin)
      return queued
    },
    close() {
      isClosed = true
      served.retire()
    },
  }
}

function problemsOf(error: unknown): readonly string[] {
  if (error instanceof SiteError) return error.problems
  return [error instanceof Error ? error.message : String(error)]
}
