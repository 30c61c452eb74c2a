import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { compressCommand, type Manifest, OperatorError } from '@serve-dist/manifest'
import { inspectFiles } from '../files/inspect-files.ts'
import type { Site } from '../site/site.ts'
import type { BuildSource, SourceBuild } from './build-source.ts'
import { findUnlisted } from '../judge/compare-folder.ts'
import { fingerprintManifest } from './fingerprint-manifest.ts'
import { readCarriedBuilds } from './read-carried-builds.ts'
import { readCarriedDeltas } from './read-carried-deltas.ts'
import { readManifest } from './read-manifest.ts'

/**
 * Returns the source of the builds that a bundler or a copy writes into a folder.
 *
 * @throws OperatorError if `directory` is not a path.
 */
export function folderSource(directory: string): BuildSource {
  if (typeof directory !== 'string' || directory === '') {
    throw new OperatorError(
      'SD_OPTION_INVALID',
      `directory: expected a path, found ${JSON.stringify(directory)}`,
    )
  }
  return {
    place: resolve(directory),
    mark: () => fingerprintManifest(directory),
    open: async (hasManifest) => openFolder(directory, await resolveRoot(directory), hasManifest),
  }
}

/** Resolves symlinks, because their targets can change. For a missing folder, messages need the given path. */
async function resolveRoot(directory: string): Promise<string> {
  return await realpath(directory).catch(() => resolve(directory))
}

function openFolder(directory: string, root: string, hasManifest: boolean): SourceBuild {
  const cure = compressCommand(directory)
  return {
    directory,
    root,
    hasManifest,
    cure,
    readManifest: (options) => readManifest(root, { ...options, directory }),
    findUnlisted: (manifest) => (hasManifest ? findUnlisted(root, manifest) : []),
    inspect: (files, inspection) => inspectFiles(root, files, { ...inspection, cure }),
    readDeltasIntoMemory: async (manifest, options) =>
      hasManifest ? await readCarriedDeltas(root, manifest, options) : undefined,
    readKept: async (manifest, verify, limits) =>
      hasManifest ? await readCarriedBuilds({ directory, root }, manifest, { ...limits, verify }) : undefined,
    describeStart: async (site, manifest) =>
      hasManifest ? await findClientBelow({ directory, root }, site, manifest) : undefined,
  }
}

/** Loads the check only if the build has neither a page for `/` nor redirects. */
async function findClientBelow(
  folder: { readonly directory: string; readonly root: string },
  { table, base, redirects }: Site,
  manifest: Manifest,
): Promise<string | undefined> {
  if (table.has(base) || redirects.length > 0) return undefined
  const { describeClientBelow } = await import('../judge/framework-output.ts')
  return describeClientBelow(folder, manifest)
}
