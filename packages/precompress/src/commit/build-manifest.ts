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

/** A file and the variants of it that pay. */
export interface CompressedFile {
  readonly file: DescribedFile
  readonly variants: readonly ManifestVariant[]
  /** Of pages. */
  readonly links?: readonly ManifestLink[]
  /** Of pages. */
  readonly policy?: PagePolicy
}

type BuildFacts = Pick<
  ResolvedPrecompressOptions,
  'base' | 'appType' | 'assetsDirectory' | 'include' | 'exclude' | 'isHashed' | 'serving' | 'environment'
> &
  FileFacts & {
    /** What all pages need of a policy; absent where nobody looked. */
    readonly policy?: BuildPolicy
  }

/** Facts about the files of a folder that the files alone do not show. */
export interface FileFacts {
  /** The path of a file with these bytes, with `[hash]` in the place of each hash, where that is known. */
  readonly stemOf?: (path: string, sha256: string) => string | undefined
  /** Whether a file is the script of a worker. */
  readonly isWorker?: (path: string) => boolean
}

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

/** The next build with only the variants that are in place already: whole, and true at once. */
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

/** The time of new content, and whether it is dictated, so that no earlier time may live on. */
export interface ContentTime {
  /** ISO 8601, UTC, whole seconds. */
  readonly now: string
  /** `SOURCE_DATE_EPOCH` is set: the result depends on the input alone, not on what it replaces. */
  readonly isFixed: boolean
}

/**
 * The time from `SOURCE_DATE_EPOCH` (reproducible-builds.org), else from the clock.
 *
 * @throws {@link OperatorError} when the variable is set and is not a whole number of seconds.
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

/** The digest of everything that a manifest says, its times apart. */
function buildIdOf(manifest: Manifest): string {
  const timeless: Manifest = {
    ...manifest,
    buildId: '',
    lastModified: '',
    files: manifest.files.map((file) => ({ ...file, lastModified: '' })),
  }
  return sha256Of(stringifyManifest(timeless)).slice(0, 32)
}

/** One page is an application that routes by itself; with several, an unknown path is a mistake. */
function guessAppType(files: readonly CompressedFile[]): 'spa' | 'mpa' {
  const pages = files.filter(({ file }) => isPageType(file.mediaType))
  return pages.length === 1 && pages[0]?.file.path === 'index.html' ? 'spa' : 'mpa'
}

function isoSeconds(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d{3}Z$/, 'Z')
}
