import type {
  AppType,
  ByteSize,
  ContentCoding,
  ManifestLink,
  RuntimeEnvironment,
  ServingRules,
} from '@serve-dist/manifest'
import type { PageElement } from './links/elements-of-page.ts'

/** Parses a page. Later calls return the result of the first one. */
export type ReadPage = () => Promise<readonly PageElement[]>

/** Finds the resources that a page needs next. `page` is its path relative to the folder; `read` parses it. */
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
  /** The bytes of the finished files, plus the completed part of each unfinished file. */
  readonly bytes: number
  readonly totalBytes: number
}

/** The options of `describeDirectory`. */
export interface DescribeOptions {
  /**
   * Glob patterns of the files that belong to the build, relative to the folder. A pattern that begins with `!` excludes
   * files.
   *
   * @default ['**']
   */
  readonly include?: readonly string[]
  /**
   * Glob patterns of files that are neither compressed nor served. The manifest does not list them. `/` separates
   * folders on every system. The build warns about a pattern that matches no file, unless it names a type of files,
   * such as `*.map`.
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
   * Returns whether the name of a file contains a hash of its content, as its bytes then never change. The path is
   * relative, with `/`.
   *
   * @default () => false
   */
  readonly isHashed?: (path: string, sha256: string) => boolean
  /**
   * Whether pages are parsed for the sources that a `Content-Security-Policy` must name. The compression step always does.
   *
   * @default false
   */
  readonly policies?: boolean
  /** Called with each warning as it occurs. The report of the compression step contains them too. */
  readonly onWarning?: (message: string) => void
}

/** The options of `precompress`. */
export interface PrecompressOptions extends Omit<DescribeOptions, 'policies'> {
  /**
   * The content codings of the variants.
   *
   * @default ['zstd', 'br', 'gzip']
   */
  readonly codings?: readonly ContentCoding[]
  /**
   * The smallest size of a file that gets variants: bytes, or a text such as `'1kb'`.
   *
   * @default 256
   */
  readonly minimumSize?: ByteSize
  /**
   * The number of bytes of original files in memory at a time. The codecs take 3.5 times as many bytes. By default both
   * take 288 MiB, and each thread takes another 12 to 17 MiB. A variant that needs more memory is made alone.
   *
   * @default 67_108_864 (64 MiB)
   */
  readonly bytesInFlight?: ByteSize
  /**
   * Whether builds reuse the variants of earlier builds. The output is the same with and without the cache.
   *
   * @default true
   */
  readonly cache?: boolean
  /**
   * The folder of the cache. Builds that run at the same time may share it.
   *
   * @default `node_modules/.cache/serve-dist` next to the nearest `package.json` above the folder, if there is one
   */
  readonly cacheDirectory?: string
  /**
   * The size of the cache in bytes. The least recently used variants are deleted first. Variants that no build used for
   * 30 days are deleted too.
   *
   * @default 536_870_912 (512 MiB)
   */
  readonly cacheSize?: ByteSize
  /**
   * Whether the variants are flushed to the disk before the manifest is written. The build then survives a power failure.
   *
   * @default true
   */
  readonly durable?: boolean
  /**
   * The rules for the server, which the manifest carries.
   *
   * @default none: the defaults of the server
   */
  readonly serving?: ServingRules
  /**
   * The values that the application reads from the environment of the server, for the manifest.
   *
   * @default none
   */
  readonly environment?: RuntimeEnvironment
  /**
   * Finds the resources that a page needs next, for the manifest. It is called for each page when all files are known.
   * `paths` are the paths of all files, relative to the folder. A link must name one of them.
   *
   * @default () => []
   */
  readonly linksOf?: LinksOf
  /**
   * Stops the compression step, which then fails with the reason of the signal and leaves the folder unchanged. A step
   * that already moves variants into place runs to its end.
   *
   * @default none: the step runs to its end
   */
  readonly signal?: AbortSignal
  /** Called at the start, and after each variant and each file. */
  readonly onProgress?: (progress: Progress) => void
}
