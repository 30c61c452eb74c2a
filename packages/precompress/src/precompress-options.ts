import type {
  AppType,
  ByteSize,
  ContentCoding,
  ManifestLink,
  RuntimeEnvironment,
  ServingRules,
} from '@serve-dist/manifest'
import type { PageElement } from './links/elements-of-page.ts'

/** Parses a page at the first call, and returns the same elements later. */
export type ReadPage = () => Promise<readonly PageElement[]>

/** Finds the files that a page needs next. `page` is relative to the folder, and `read` returns its elements. */
export type LinksOf = (
  page: string,
  paths: ReadonlySet<string>,
  read: ReadPage,
) => readonly ManifestLink[] | Promise<readonly ManifestLink[]>

/** The state of a compression step. */
export interface Progress {
  /** Files that are done. */
  readonly files: number
  readonly totalFiles: number
  /** Bytes of the finished files, and of each unfinished file the share that is done. */
  readonly bytes: number
  readonly totalBytes: number
}

/** Options of `describeDirectory`. */
export interface DescribeOptions {
  /**
   * Glob patterns of the files that belong to the build, relative to the folder. A pattern with a leading `!` excludes
   * files.
   *
   * @default ['**']
   */
  readonly include?: readonly string[]
  /**
   * Glob patterns of files to exclude from the manifest. They are neither compressed nor served.
   *
   * @default []
   */
  readonly exclude?: readonly string[]
  /**
   * The URL path of the build. Starts and ends with `/`.
   *
   * @default '/'
   */
  readonly base?: string
  /**
   * The kind of application, which decides the answer to unknown paths.
   *
   * @default 'spa' if `index.html` in the root is the only HTML page, otherwise 'mpa'
   */
  readonly appType?: AppType
  /**
   * The folder of hashed assets, relative, without a trailing slash.
   *
   * @default ''
   */
  readonly assetsDirectory?: string
  /**
   * Returns whether the name of a file contains a content hash, so that its bytes never change. The path is relative,
   * with `/`.
   *
   * @default () => false
   */
  readonly isHashed?: (path: string, sha256: string) => boolean
  /**
   * Parses pages for the hashes that their `Content-Security-Policy` needs. `precompress` always does.
   *
   * @default false
   */
  readonly policies?: boolean
  /** Called with each warning immediately. The report of `precompress` also contains all warnings. */
  readonly onWarning?: (message: string) => void
}

/** Options of `precompress`. */
export interface PrecompressOptions extends Omit<DescribeOptions, 'policies'> {
  /**
   * The content codings of the variants.
   *
   * @default ['zstd', 'br', 'gzip']
   */
  readonly codings?: readonly ContentCoding[]
  /**
   * Smaller files get no variants. In bytes, or a text such as `'1kb'`.
   *
   * @default 256
   */
  readonly minimumSize?: ByteSize
  /**
   * Maximum bytes of originals in memory at once. Codecs take up to 3.5 times as much, so the default needs 288 MiB,
   * plus 12 to 17 MiB for each thread. A variant that needs more is encoded alone.
   *
   * @default 67_108_864 (64 MiB)
   */
  readonly bytesInFlight?: ByteSize
  /**
   * Reuses results of earlier compressions and caches new ones. Does not change any byte.
   *
   * @default true
   */
  readonly cache?: boolean
  /**
   * The cache folder. Concurrent builds can share it.
   *
   * @default `node_modules/.cache/serve-dist` next to the nearest `package.json` above the folder; without one, no
   * cache
   */
  readonly cacheDirectory?: string
  /**
   * Maximum size of the cache in bytes. Above it, the least recently used results are removed. Results that were not
   * used for 30 days are always removed.
   *
   * @default 536_870_912 (512 MiB)
   */
  readonly cacheSize?: ByteSize
  /**
   * Flushes variants to the disk before the manifest names them, so that the manifest is true after a power failure.
   *
   * @default true
   */
  readonly durable?: boolean
  /**
   * Serving rules for the manifest.
   *
   * @default none: the defaults of the server
   */
  readonly serving?: ServingRules
  /**
   * The environment variables of the server that the application reads, for the manifest.
   *
   * @default none
   */
  readonly environment?: RuntimeEnvironment
  /**
   * Returns the files that a page needs next, for the manifest. Called for each page when all files are known. `paths`
   * are all paths relative to the folder; links may name only these.
   *
   * @default () => []
   */
  readonly linksOf?: LinksOf
  /**
   * Aborts the compression. It fails with the signal's reason and leaves the folder unchanged. A compression that
   * already moves variants into the folder completes.
   *
   * @default none
   */
  readonly signal?: AbortSignal
  /** Called at the start, and after each variant and each file. */
  readonly onProgress?: (progress: Progress) => void
}
