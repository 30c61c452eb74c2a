import { loadBuild } from './load-build.ts'
import { type LoadSiteOptions, resolveLoadSiteOptions } from './load-options.ts'
import { type BuildPlace, openSource } from './open-source.ts'
import type { Site } from '../site/site.ts'
import { type StoreOptions, withoutStore } from './store-options.ts'

/**
 * Reads a build's manifest (or describes the folder when it has none), checks it against the disk, reads
 * the bodies that fit into memory, and builds the table that requests are answered from. Streamed files are
 * opened for each answer; `openLiveSite` keeps them open.
 *
 * @throws OperatorError with all problems at once: the manifest cannot be read, or a file is missing
 * or has another size than the manifest says, or another digest (streamed files: with `verify: 'hash'`).
 */
export async function loadSite(directory: string, options?: LoadSiteOptions): Promise<Site>
/**
 * Reads the build that is current in a store, for good; `openLiveSite` takes each that becomes current. Where the store
 * cannot be reached, it is the one that the cache on this machine has.
 *
 * @throws OperatorError when neither has a build that can be served, or an option is wrong.
 */
export async function loadSite(options: LoadSiteOptions & Omit<StoreOptions, 'storeInterval'>): Promise<Site>
export async function loadSite(
  from: string | (LoadSiteOptions & StoreOptions),
  options: LoadSiteOptions = {},
): Promise<Site> {
  return typeof from === 'object' && from !== null
    ? await load(from, withoutStore(from), true)
    : await load(from, options, true)
}

/** As {@link loadSite}, for who sends nothing of it: what the build requires of its environment may be missing. */
export async function loadSiteToInspect(directory: string, options: LoadSiteOptions): Promise<Site> {
  return await load(directory, options, false)
}

async function load(place: BuildPlace, options: LoadSiteOptions, needsEnvironment: boolean): Promise<Site> {
  const resolved = resolveLoadSiteOptions(options)
  const { site } = await loadBuild(await openSource(place, resolved), {
    ...resolved,
    openFiles: 0,
    needsManifest: false,
    needsEnvironment,
    isStart: true,
    digests: new Map(),
    earlier: [],
  })
  return site
}
