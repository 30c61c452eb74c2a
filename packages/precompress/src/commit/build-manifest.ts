import {
  type Manifest,
  type ManifestFile,
  type ManifestLink,
  type ManifestVariant,
  manifestVersion,
} from '@serve-dist/manifest'
import { buildIdOf } from './build-id.ts'
import type { ContentTime } from './content-time.ts'
import type { DescribedFile } from '../folder/describe-file.ts'
import type { ResolvedPrecompressOptions } from '../resolve-precompress-options.ts'

/** A file and the variants of it that pay. */
export interface CompressedFile {
  readonly file: DescribedFile
  readonly variants: readonly ManifestVariant[]
  /** Of pages. */
  readonly links?: readonly ManifestLink[]
}

type BuildFacts = Pick<
  ResolvedPrecompressOptions,
  'base' | 'appType' | 'assetsDirectory' | 'isHashed' | 'serving'
>

/** The manifest of these files; content that an earlier manifest knew keeps the time that it had there. */
export function buildManifest(
  files: readonly CompressedFile[],
  facts: BuildFacts,
  time: ContentTime & { readonly earlier: Manifest | undefined },
): Manifest {
  const earlier = time.isFixed ? undefined : time.earlier
  const earlierFiles = new Map(earlier?.files.map((file) => [file.path, file]))
  const timeless: Manifest = {
    version: manifestVersion,
    buildId: '',
    base: facts.base,
    appType: facts.appType ?? guessAppType(files),
    assetsDirectory: facts.assetsDirectory,
    lastModified: '',
    ...(facts.serving !== undefined && { serving: facts.serving }),
    files: files
      .map(({ file: { path, mediaType, size, sha256 }, variants, links = [] }): ManifestFile => {
        const cache = facts.isHashed(path, sha256) ? 'immutable' : 'revalidate'
        const file = { path, mediaType, size, sha256, cache, lastModified: '', variants } as const
        return links.length > 0 ? { ...file, links } : file
      })
      .toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  }
  const buildId = buildIdOf(timeless)
  return {
    ...timeless,
    buildId,
    ...(time.isFixed && { timesAreFixed: true }),
    lastModified: earlier?.buildId === buildId ? earlier.lastModified : time.now,
    files: timeless.files.map((file) => {
      const before = earlierFiles.get(file.path)
      const lastModified = before?.sha256 === file.sha256 ? before.lastModified : time.now
      return Object.assign(file, { lastModified })
    }),
  }
}

/** One page is an application that routes by itself; with several, an unknown path is a mistake. */
function guessAppType(files: readonly CompressedFile[]): 'spa' | 'mpa' {
  const pages = files.filter(({ file }) => file.mediaType.startsWith('text/html'))
  return pages.length === 1 && pages[0]?.file.path === 'index.html' ? 'spa' : 'mpa'
}
