import type { ContentCoding } from './content-coding.ts'
import type { BuildPolicy, PagePolicy } from './content-security-policy.ts'
import type { RuntimeEnvironment } from './runtime-environment.ts'
import type { ServingRules } from './serving-rules.ts'

/** The version of the format that this package reads and writes. */
export const manifestVersion = 1

/** The folder of serve-dist inside a build's folder. It contains the manifest and is never served. */
export const stateDirectory = '.serve-dist'

/** The path of the manifest, relative to the build's folder. */
export const manifestPath: string = `${stateDirectory}/manifest.json`

/**
 * The path of the journal of an unfinished build or compression step, relative to the build's folder. With a journal
 * and without a manifest, the folder must not be served, because it can contain files of two builds or lack files. With
 * both, variants can be missing until `precompress` has run again.
 */
export const pendingPath: string = `${stateDirectory}/pending.json`
/** The path of the record of the bundler's facts about a build. */
export const recordPath: string = `${stateDirectory}/record.json`

/** The path of the build id under a build's base: `{"buildId":"…"}`. The server generates it. */
export const buildIdPath = '__serve-dist/build.json'

/** The path of the list of hashed files under a build's base. The server generates it. */
export const keptListPath = '__serve-dist/kept.json'
/** The maximum size of this list in bytes. Its parsed form takes a multiple of it. */
export const largestKeptList: number = 8 * 1024 * 1024
/** The path of the list of files that `serve-dist carry` added, relative to the build's folder. */
export const carriedListPath: string = `${stateDirectory}/kept.json`
/**
 * The path of the list of deltas that `serve-dist carry` made, relative to the build's folder. Its format is that of a
 * store. Even without deltas, it tells servers to mark dictionaries.
 */
export const carriedDeltasPath: string = `${stateDirectory}/deltas.json`
/**
 * The folder of these files and deltas, relative to the build's folder. Each is named after the SHA-256 of its bytes.
 */
export const carriedFolder: string = `${stateDirectory}/kept`

/** The application type, as in Vite's `appType`. It determines the response for unknown paths. */
export type AppType = (typeof appTypes)[number]
export const appTypes: readonly ['spa', 'mpa', 'custom'] = ['spa', 'mpa', 'custom']

/** The cache class of a file: `immutable` if the bundler put a content hash into the name, otherwise `revalidate`. */
export type CacheClass = 'immutable' | 'revalidate'

/** A build: all files that may be served. */
export interface Manifest {
  readonly version: typeof manifestVersion
  /** The digest of the whole content in lower-case hexadecimal. Equal builds have equal ids. */
  readonly buildId: string
  /** The path under which the build is served. It starts and ends with `/`. */
  readonly base: string
  readonly appType: AppType
  /**
   * The folder of hashed assets, relative to the build's folder and without a final slash; `''` for the root or none.
   */
  readonly assetsDirectory: string
  /** The time of the last change: ISO 8601, UTC, whole seconds. */
  readonly lastModified: string
  /**
   * Present if times do not identify content and are therefore neither sent nor compared. `SOURCE_DATE_EPOCH` set the
   * times of a build, or a folder has no manifest.
   */
  readonly timesAreFixed?: true
  /** The serving rules of the plugin's options, if there are any. */
  readonly serving?: ServingRules
  /** The globs that selected the files. Absent if all files that may be served are selected. */
  readonly selection?: Selection
  /** The variables that the build reads from the environment of its server, if there are any. */
  readonly environment?: RuntimeEnvironment
  /** The sources that the build needs in its `Content-Security-Policy`, besides its own files. */
  readonly policy?: BuildPolicy
  /** The files, sorted by path in UTF-16 code unit order, without duplicate paths. */
  readonly files: readonly ManifestFile[]
}

/** The files of the folder that belong to the build, as globs relative to the folder. */
export interface Selection {
  /** The included files, by default all. A glob after `!` excludes files. */
  readonly include?: readonly string[]
  /** The excluded files, by default none. */
  readonly exclude?: readonly string[]
}

/** One file of a build. */
export interface ManifestFile {
  /**
   * The path relative to the build's folder, with `/` between segments. It equals the path on disk, without escapes or
   * normalization.
   */
  readonly path: string
  /**
   * The path with `[hash]` instead of each hash of the bundler, such as `assets/index-[hash].js`. It is the same in
   * each build. Absent if the path has no hash or its position is unknown.
   */
  readonly stem?: string
  /** The value of `Content-Type` with its charset. */
  readonly mediaType: string
  /** The number of bytes. */
  readonly size: number
  /** The SHA-256 of the bytes on disk, in lower-case hexadecimal. */
  readonly sha256: string
  readonly cache: CacheClass
  /** The time at which this path first had these bytes: ISO 8601, UTC, whole seconds. */
  readonly lastModified: string
  /** The variants, at most one per coding, in the order of `contentCodings`. */
  readonly variants: readonly ManifestVariant[]
  /** For pages: the files that a browser will request next, from the bundler's graph. */
  readonly links?: readonly ManifestLink[]
  /** For the environment module: the server generates its bytes at the start, and those on disk may change. */
  readonly runtime?: true
  /** Whether this is the script of a worker. Workers obey the policy of their own response. */
  readonly worker?: true
  /** For pages: the hashes that a `Content-Security-Policy` must contain. */
  readonly policy?: PagePolicy
}

/** A file that a page needs, for a `Link` field (RFC 8288). */
export interface ManifestLink {
  /** The path of a file of this build. */
  readonly path: string
  readonly rel: 'modulepreload' | 'preload'
  readonly as?: 'style' | 'script' | 'font'
  /** For `preload` of styles and scripts: whether the browser fetches them in CORS mode. Fonts always are. */
  readonly crossorigin?: boolean
  /** Whether the page itself refers to the file. Then only an early hint makes the browser load it sooner. */
  readonly inDocument: boolean
}

/** A file in a content coding. Its path is `variantPath(file.path, variant.coding)`. */
export interface ManifestVariant {
  readonly coding: ContentCoding
  /** The number of bytes on disk. */
  readonly size: number
  /** The SHA-256 of the encoded bytes, in lower-case hexadecimal. */
  readonly sha256: string
}
