import type { Manifest } from './manifest.ts'
import { mediaTypeOf } from './media-type-of.ts'
import type { ListedBuild } from './parse-kept-list.ts'

/** Describes the hashed files of an earlier build below the base of the current one. */
export function describeListedBuild(
  { id, files }: ListedBuild,
  { version, base, appType, lastModified }: Manifest,
): Manifest {
  return {
    version,
    buildId: id,
    base,
    appType,
    assetsDirectory: '',
    lastModified,
    timesAreFixed: true,
    files: files.map((file) => ({
      ...file,
      mediaType: mediaTypeOf(file.path),
      cache: 'immutable',
      lastModified,
    })),
  }
}
