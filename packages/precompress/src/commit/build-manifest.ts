import {
  isPageType,
  OperatorError,
  type Manifest,
  type ManifestFile,
  type ManifestLink,
  type ManifestVariant,
  type PagePolicy,
  type BuildPolicy,
  manifestVersion,
  type Selection,
  stringifyManifest,
  variantPath,
} from '@serve-dist/manifest'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { type DescribedFile } from '../folder/describe-file.ts'
import type { ResolvedPrecompressOptions } from '../resolve-precompress-options.ts'
import type { VariantClaim } from './read-earlier-build.ts'

/** A file and the variants that are worth keeping. */
export interface CompressedFile {
  readonly file: DescribedFile
  readonly variants: readonly ManifestVariant[]
  /** Links of a page. */
  readonly links?: readonly ManifestLink[]
  /** Policy of a page. */
  readonly policy?: PagePolicy
}

type BuildFacts = Pick<
  ResolvedPrecompressOptions,
  'base' | 'appType' | 'assetsDirectory' | 'include' | 'exclude' | 'isHashed' | 'serving' | 'environment'
> &
  FileFacts & {
    /** Policy requirements of all pages. Absent if pages were not examined. */
    readonly policy?: BuildPolicy
  }

/** Facts about the files of a folder that their content does not show. */
export interface FileFacts {
  /** Returns the path with `[hash]` instead of each hash, if known. */
  readonly stemOf?: (path: string, sha256: string) => string | undefined
  /** Whether a file is the script of a worker. */
  readonly isWorker?: (path: string) => boolean
}

/** Creates the manifest of these files. Unchanged files keep the time of the earlier manifest. */
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
    ...selectionOf(facts),
    ...(facts.environment !== undefined && { environment: facts.environment }),
    ...(facts.policy !== undefined && { policy: facts.policy }),
    files: files
      .map(({ file: { path, mediaType, size, sha256 }, variants, links = [], policy }): ManifestFile => {
        const isRuntime = path === facts.environment?.path
        const cache = !isRuntime && facts.isHashed(path, sha256) ? 'immutable' : 'revalidate'
        const stem = facts.stemOf?.(path, sha256)
        const file = { path, mediaType, size, sha256, cache, lastModified: '', variants } as const
        return {
          ...file,
          ...(stem !== undefined && { stem }),
          ...(links.length > 0 && { links }),
          ...(isRuntime && { runtime: true as const }),
          ...(facts.isWorker?.(path) === true && { worker: true as const }),
          ...(policy && { policy }),
        }
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

function selectionOf({ include, exclude }: BuildFacts): { readonly selection?: Selection } {
  const takesAll = include.length === 1 && include[0] === '**'
  if (takesAll && exclude.length === 0) return {}
  return { selection: { ...(!takesAll && { include }), ...(exclude.length > 0 && { exclude }) } }
}

/**
 * Creates a manifest of the next build with only the variants that are already in the folder. It is complete and true.
 */
export function interimManifest(next: Manifest, isInPlace: (claim: VariantClaim) => boolean): Manifest {
  const files = next.files.map((file) =>
    Object.assign({}, file, {
      variants: file.variants.filter(({ coding, sha256 }) =>
        isInPlace({ path: variantPath(file.path, coding), sha256 }),
      ),
    }),
  )
  const interim = { ...next, files }
  return { ...interim, buildId: buildIdOf(interim) }
}

/** The time of new content. */
export interface ContentTime {
  /** ISO 8601, UTC, whole seconds. */
  readonly now: string
  /** Whether `SOURCE_DATE_EPOCH` is set. Then the result does not depend on earlier times. */
  readonly isFixed: boolean
}

/**
 * Returns the time of `SOURCE_DATE_EPOCH` (reproducible-builds.org), otherwise of the clock.
 *
 * @throws {@link OperatorError} if the variable is not a whole number of seconds.
 */
export function contentTime(): ContentTime {
  const sourceDateEpoch = process.env['SOURCE_DATE_EPOCH']
  if (sourceDateEpoch === undefined || sourceDateEpoch === '') {
    return { now: isoSeconds(Date.now()), isFixed: false }
  }
  if (!/^\d{1,11}$/.test(sourceDateEpoch)) {
    throw new OperatorError('SD_OPTION_INVALID', [
      `SOURCE_DATE_EPOCH: expected a whole number of seconds since 1970, found ${JSON.stringify(sourceDateEpoch)}`,
    ])
  }
  return { now: isoSeconds(Number(sourceDateEpoch) * 1000), isFixed: true }
}

/** Returns the digest of the manifest without its times. */
function buildIdOf(manifest: Manifest): string {
  const timeless: Manifest = {
    ...manifest,
    buildId: '',
    lastModified: '',
    files: manifest.files.map((file) => ({ ...file, lastModified: '' })),
  }
  return sha256Of(stringifyManifest(timeless)).slice(0, 32)
}

/**
 * Returns `spa` for a build with one page, because that page probably routes all paths. Otherwise an unknown path is an
 * error.
 */
function guessAppType(files: readonly CompressedFile[]): 'spa' | 'mpa' {
  const pages = files.filter(({ file }) => isPageType(file.mediaType))
  return pages.length === 1 && pages[0]?.file.path === 'index.html' ? 'spa' : 'mpa'
}

function isoSeconds(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
