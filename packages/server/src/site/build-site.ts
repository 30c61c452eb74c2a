import type { Manifest } from '@serve-dist/manifest'
import { buildResource } from './build-resource.ts'
import { buildTable } from './build-table.ts'
import type { ManifestEntry } from '../files/inspect-file.ts'
import { encodePath } from '../protocol/request-path.ts'
import type { ResolvedServing } from './resolve-serving.ts'
import type { Site, StoredBytes } from './site.ts'

/**
 * Builds the table that requests are answered from, with all that their answers are made of.
 *
 * @param stored - by what the manifest says of them: its files and their variants.
 */
export function buildSite(
  manifest: Manifest,
  stored: ReadonlyMap<ManifestEntry, StoredBytes>,
  serving: ResolvedServing,
): Site {
  const base = encodePath(manifest.base)
  const context = { base: manifest.base, timesAreFixed: manifest.timesAreFixed === true, stored, serving }
  const resources = new Map(manifest.files.map((file) => [file.path, buildResource(file, context)]))
  return {
    directory: serving.directory,
    buildId: manifest.buildId,
    base,
    appType: manifest.appType,
    assetsPath:
      manifest.assetsDirectory === '' ? undefined : `${base}${encodePath(manifest.assetsDirectory)}/`,
    files: resources,
    ...buildTable({ base, resources, redirects: serving.redirects }),
    index: resources.get('index.html'),
    notFound: resources.get('404.html'),
    fallback: serving.fallback,
    earlyHints: serving.earlyHints,
    sourceMaps: serving.sourceMaps,
    overridesFor: serving.overridesFor,
    summary: {
      files: manifest.files.length,
      variants: manifest.files.reduce((count, { variants }) => count + variants.length, 0),
      bytesInMemory: [...stored.values()].reduce((bytes, { body }) => bytes + (body?.length ?? 0), 0),
    },
  }
}
