import { realpath } from 'node:fs/promises'
import { resolve } from 'node:path'
import { compressCommand, type Manifest, OperatorError } from '@serve-dist/manifest'
import { inspectFiles } from '../files/inspect-files.ts'
import type { Site } from '../site/site.ts'
import type { BuildSource, SourceBuild } from './build-source.ts'
import { findUnlisted } from '../judge/compare-folder.ts'
import { fingerprintManifest } from './fingerprint-manifest.ts'
import { readManifest } from './read-manifest.ts'

/**
 * The builds of a folder, as a bundler or a copy writes them.
 *
 * @throws OperatorError for what is no path.
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

/** Where a link leads may change at any time. Messages about a missing folder show the name that was given. */
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
    describeStart: async (site, manifest) =>
      hasManifest ? await findClientBelow({ directory, root }, site, manifest) : undefined,
  }
}

/** A build that answers `/` itself, or by a rule, needs no more modules for this. */
async function findClientBelow(
  folder: { readonly directory: string; readonly root: string },
  { table, base, redirects }: Site,
  manifest: Manifest,
): Promise<string | undefined> {
  if (table.has(base) || redirects.length > 0) return undefined
  const { describeClientBelow } = await import('../judge/framework-output.ts')
  return describeClientBelow(folder, manifest)
}
