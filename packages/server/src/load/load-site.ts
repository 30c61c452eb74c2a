import { loadBuild } from './load-build.ts'
import { type LoadSiteOptions, resolveLoadSiteOptions } from './load-options.ts'
import type { Site } from '../site/site.ts'

/**
 * Reads a build's manifest (or describes the folder when it has none), checks it against the disk, reads
 * the bodies that fit into memory, and builds the table that requests are answered from. Streamed files are
 * opened for each answer; `openSiteStore` keeps them open.
 *
 * @throws OperatorError with all problems at once: the manifest cannot be read, or a file is missing
 * or has another size than the manifest says, or another digest (streamed files: with `verify: 'hash'`).
 */
export async function loadSite(directory: string, options: LoadSiteOptions = {}): Promise<Site> {
  return await load(directory, options, true)
}

/** As {@link loadSite}, for who sends nothing of it: what the build requires of its environment may be missing. */
export async function loadSiteToInspect(directory: string, options: LoadSiteOptions): Promise<Site> {
  return await load(directory, options, false)
}

async function load(directory: string, options: LoadSiteOptions, needsEnvironment: boolean): Promise<Site> {
  const { site } = await loadBuild(directory, {
    ...resolveLoadSiteOptions(options),
    openFiles: 0,
    needsManifest: false,
    needsEnvironment,
    isStart: true,
    digests: new Map(),
  })
  return site
}
