import { refuseBasicAuth } from '../rules/basic-auth.ts'
import { loadBuild, type LoadBuildOptions } from './load-build.ts'
import { type LoadSiteOptions, resolveLoadSiteOptions } from './load-options.ts'
import { type BuildPlace, openSource } from './open-source.ts'
import type { Site } from '../site/site.ts'
import { type StoreOptions, withoutStore } from './store-options.ts'

/**
 * Loads a build. It reads the manifest (or describes a folder without one) and compares it with the disk. Then it reads the
 * bodies that fit into memory, and builds the table of answers. Other files are opened for each response; `openLiveSite`
 * keeps them open.
 *
 * @throws OperatorError that lists all problems: an unreadable manifest, or files that are missing or differ from the
 * manifest in size or digest. The digests of streamed files are compared with `verify: 'hash'`.
 */
export async function loadSite(directory: string, options?: LoadSiteOptions): Promise<Site>
/**
 * Loads the current build of a store once; `openLiveSite` follows later builds. If the store is unreachable, it loads the
 * build from the cache on this machine.
 *
 * @throws OperatorError if neither has a usable build, or if an option is invalid.
 */
export async function loadSite(options: LoadSiteOptions & Omit<StoreOptions, 'storeInterval'>): Promise<Site>
export async function loadSite(
  from: string | (LoadSiteOptions & StoreOptions),
  options: LoadSiteOptions = {},
): Promise<Site> {
  return typeof from === 'object' && from !== null
    ? await load(from, withoutStore(from), { beforeServing: refuseBasicAuth })
    : await load(from, options, { beforeServing: refuseBasicAuth })
}

/** Loads a site like {@link loadSite}, for callers that do not serve it to others: it may need credentials. */
export async function loadProtectedSite(place: BuildPlace, options: LoadSiteOptions): Promise<Site> {
  return await load(place, options)
}

/** Loads a site like {@link loadSite}, for callers that only inspect it. Required environment variables may be missing. */
export async function loadSiteToInspect(directory: string, options: LoadSiteOptions): Promise<Site> {
  return await load(directory, options, { needsEnvironment: false })
}

async function load(
  place: BuildPlace,
  options: LoadSiteOptions,
  {
    needsEnvironment = true,
    beforeServing,
  }: Partial<Pick<LoadBuildOptions, 'needsEnvironment' | 'beforeServing'>> = {},
): Promise<Site> {
  const resolved = resolveLoadSiteOptions(options)
  const { site } = await loadBuild(await openSource(place, resolved), {
    ...resolved,
    openFiles: 0,
    needsManifest: false,
    needsEnvironment,
    beforeServing,
    isStart: true,
    digests: new Map(),
    earlier: [],
  })
  return site
}
