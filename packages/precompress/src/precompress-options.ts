import type {
  AppType,
  ByteSize,
  ContentCoding,
  ManifestLink,
  RuntimeEnvironment,
  ServingRules,
} from '@serve-dist/manifest'
import type { PageElement } from './links/elements-of-page.ts'

/** Parses a page, once for all who ask. */
export type ReadPage = () => Promise<readonly PageElement[]>

/** Finds what a page (its path, relative to the folder) needs next; `read` gives what stands in it. */
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

/** What `describeDirectory` takes. */
export interface DescribeOptions {
  /**
   * Glob patterns of the files that belong to the build, relative to the folder; with `!` before it one takes files out.
   *
   * @default ['**']
   */
  readonly include?: readonly string[]
  /**
   * Glob patterns of files that are left out of the manifest altogether: neither compressed nor served.
   *
   * @default []
   */
  readonly exclude?: readonly string[]
  /**
   * The path under which the build is served; begins and ends with `/`.
   *
   * @default '/'
   */
  readonly base?: string
  /**
   * How a path that the build does not have is answered.
   *
   * @default 'spa' when `index.html` at the root is the only HTML page, else 'mpa'
   */
  readonly appType?: AppType
  /**
   * The folder of hashed assets, relative, without a slash at its end.
   *
   * @default ''
   */
  readonly assetsDirectory?: string
  /**
   * Whether a content hash stands in the name of this file (relative, with `/`), so that its bytes never
   * change.
   *
   * @default () => false
   */
  readonly isHashed?: (path: string, sha256: string) => boolean
  /**
   * Whether pages are parsed for what a `Content-Security-Policy` must name to let them run. A pass always does so.
   *
   * @default false
   */
  readonly policies?: boolean
  /** Called with each warning when it arises; the report of a pass holds them all as well. */
  readonly onWarning?: (message: string) => void
}

/** What `precompress` takes. */
export interface PrecompressOptions extends Omit<DescribeOptions, 'policies'> {
  /**
   * The content codings to make variants in.
   *
   * @default ['zstd', 'br', 'gzip']
   */
  readonly codings?: readonly ContentCoding[]
  /**
   * Files below this size get no variants: bytes, or a text such as `'1kb'`.
   *
   * @default 256
   */
  readonly minimumSize?: ByteSize
  /**
   * How many bytes of originals may be in memory at once, if the codecs take 3.5 times as much. The sum of both is
   * 288 MiB by default, whatever the number of files, besides 12 to 17 MiB for each thread. A variant that needs more is
   * made alone.
   *
   * @default 67_108_864 (64 MiB)
   */
  readonly bytesInFlight?: ByteSize
  /**
   * Whether results of earlier passes are used, and those of this one kept for the next. It changes no byte.
   *
   * @default true
   */
  readonly cache?: boolean
  /**
   * Where results are kept; may be shared by builds that run at once.
   *
   * @default `node_modules/.cache/serve-dist` beside the nearest `package.json` above the folder; none without one
   */
  readonly cacheDirectory?: string
  /**
   * How many bytes of results are kept; above it, those go that were not used for longest. All go that were not
   * used for 30 days.
   *
   * @default 536_870_912 (512 MiB)
   */
  readonly cacheSize?: ByteSize
  /**
   * Whether what is written has reached the disk before the manifest names it, so that a machine that loses
   * power keeps the promise too.
   *
   * @default true
   */
  readonly durable?: boolean
  /**
   * How the build is to be served, for the manifest.
   *
   * @default none: the defaults of the server
   */
  readonly serving?: ServingRules
  /**
   * What the application takes from the environment of the process that serves it, for the manifest.
   *
   * @default none
   */
  readonly environment?: RuntimeEnvironment
  /**
   * What a page needs next, for the manifest. Called for each page when all files are known; `paths` are
   * theirs, relative to the folder, and a link may name one of those only.
   *
   * @default () => []
   */
  readonly linksOf?: LinksOf
  /**
   * Ends the pass early: it fails with the signal's reason, and the folder is as it was found. A pass that has begun
   * to move variants into place comes to its end.
   *
   * @default none: the pass always runs to its end
   */
  readonly signal?: AbortSignal
  /** Called at the start, and after each variant and each file. */
  readonly onProgress?: (progress: Progress) => void
}
