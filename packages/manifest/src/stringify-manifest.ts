import type { Manifest, ManifestFile } from './manifest.ts'

/**
 * Returns the text of a manifest. It is deterministic: a fixed order of keys, one line per file, and a line feed at the
 * end.
 */
export function stringifyManifest(manifest: Manifest): string {
  const head = JSON.stringify({
    version: manifest.version,
    buildId: manifest.buildId,
    base: manifest.base,
    appType: manifest.appType,
    assetsDirectory: manifest.assetsDirectory,
    lastModified: manifest.lastModified,
    timesAreFixed: manifest.timesAreFixed,
    serving: manifest.serving,
    selection: manifest.selection && {
      include: manifest.selection.include,
      exclude: manifest.selection.exclude,
    },
    environment: manifest.environment,
    policy: manifest.policy,
  })
  const files = manifest.files.map((file) => JSON.stringify(ordered(file)))
  return `${head.slice(0, -1)},"files":[\n${files.join(',\n')}\n]}\n`
}

function ordered(file: ManifestFile): ManifestFile {
  return {
    path: file.path,
    ...(file.stem !== undefined && { stem: file.stem }),
    mediaType: file.mediaType,
    size: file.size,
    sha256: file.sha256,
    cache: file.cache,
    lastModified: file.lastModified,
    variants: file.variants.map(({ coding, size, sha256 }) => ({ coding, size, sha256 })),
    ...(file.links && {
      links: file.links.map(({ path, rel, as, crossorigin, inDocument }) => ({
        path,
        rel,
        ...(as && { as }),
        ...(crossorigin !== undefined && { crossorigin }),
        inDocument,
      })),
    }),
    ...(file.runtime && { runtime: true }),
    ...(file.worker && { worker: true }),
    ...(file.policy && { policy: file.policy }),
  }
}
