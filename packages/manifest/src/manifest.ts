import type { ContentCoding } from './content-coding.ts'
import type { BuildPolicy, PagePolicy } from './content-security-policy.ts'
import type { RuntimeEnvironment } from './runtime-environment.ts'
import type { ServingRules } from './serving-rules.ts'

/** The version of the format that this package reads and writes. */
export const manifestVersion = 1

/** The folder of our own inside a build's folder: it holds the manifest and is never served. */
export const stateDirectory = '.serve-dist'

/** Where the manifest stands, relative to the build's folder. */
export const manifestPath: string = `${stateDirectory}/manifest.json`

/**
 * Where the journal of a pass stands while it, or the build before it, changes the folder, relative to the build's
 * folder. A folder that has it and no manifest must not be served: files of two builds may lie side by side, or
 * some be missing. One that has both can be, but variants may be missing, until `precompress` has run again.
 */
export const pendingPath: string = `${stateDirectory}/pending.json`
/** What the bundler knew of the folder, as a build wrote it down. */
export const recordPath: string = `${stateDirectory}/record.json`

/** The JSON under a build's base that names the build, `{"buildId":"…"}`: made by the server, and no file of the folder. */
export const buildIdPath = '__serve-dist/build.json'

/** How a build answers a path that it does not have: Vite's own `appType`. */
export type AppType = (typeof appTypes)[number]
export const appTypes: readonly ['spa', 'mpa', 'custom'] = ['spa', 'mpa', 'custom']

/**
 * How long an answer stays fresh: `immutable` where the bundler itself put a content hash into the
 * name, `revalidate` for everything else.
 */
export type CacheClass = 'immutable' | 'revalidate'

/** One build: every file that may be served, and nothing else. */
export interface Manifest {
  readonly version: typeof manifestVersion
  /** Digest of the whole content, lower-case hexadecimal: equal builds have equal ids. */
  readonly buildId: string
  /** The path under which the build is served; begins and ends with `/`. */
  readonly base: string
  readonly appType: AppType
  /** The folder of hashed assets, relative to the build's folder, without a slash at its end; `''` for the root or none. */
  readonly assetsDirectory: string
  /** When the content last changed: ISO 8601, UTC, whole seconds. */
  readonly lastModified: string
  /**
   * Present where the times do not tell one content from another, and are neither sent nor compared:
   * `SOURCE_DATE_EPOCH` dictated them to a build, or nobody did for a folder without a manifest.
   */
  readonly timesAreFixed?: true
  /** What the plugin's options say of serving; absent when they say nothing. */
  readonly serving?: ServingRules
  /** The globs that chose the files; absent when every file that can be served was chosen. */
  readonly selection?: Selection
  /** What the build takes from the environment of the process that serves it; absent when it takes nothing. */
  readonly environment?: RuntimeEnvironment
  /** What the build is known to need of a `Content-Security-Policy` besides files of its own. */
  readonly policy?: BuildPolicy
  /** Sorted by path, in UTF-16 code unit order; no path twice. */
  readonly files: readonly ManifestFile[]
}

/** Which files of the folder belong to the build: globs relative to it. */
export interface Selection {
  /** Absent: all. With `!` before it a glob takes files out. */
  readonly include?: readonly string[]
  /** Absent: none. */
  readonly exclude?: readonly string[]
}

/** One file of a build. */
export interface ManifestFile {
  /** Relative to the build's folder, with `/` between segments, exactly as on the disk (no escapes, no normalisation). */
  readonly path: string
  /**
   * The path with `[hash]` in the place of each hash that the bundler put into it, such as `assets/index-[hash].js`:
   * the same in each build. Absent where nobody knows where the hash stands, or there is none.
   */
  readonly stem?: string
  /** The value of `Content-Type`, its charset included. */
  readonly mediaType: string
  /** In bytes. */
  readonly size: number
  /** Of the bytes on the disk, lower-case hexadecimal. */
  readonly sha256: string
  readonly cache: CacheClass
  /** When these bytes were first seen under this path: ISO 8601, UTC, whole seconds. */
  readonly lastModified: string
  /** At most one a coding, in the order of `contentCodings`. */
  readonly variants: readonly ManifestVariant[]
  /** Of pages: what a browser will ask for next, from the bundler's own graph. */
  readonly links?: readonly ManifestLink[]
  /** Of the module of the environment: a server makes its bytes when it starts, and those on the disk may change. */
  readonly runtime?: true
  /** Whether it is the script of a worker, which obeys the policy of its own response. */
  readonly worker?: true
  /** Of pages: what a `Content-Security-Policy` must name to let it run. */
  readonly policy?: PagePolicy
}

/** A file that a page needs, as a `Link` field can announce it (RFC 8288). */
export interface ManifestLink {
  /** Of a file of this build. */
  readonly path: string
  readonly rel: 'modulepreload' | 'preload'
  readonly as?: 'style' | 'font'
  /** Of styles: whether they are fetched in CORS mode, as scripts and fonts always are; else absent. */
  readonly crossorigin?: boolean
  /** Whether the page itself names it: then only an early hint brings it sooner. */
  readonly inDocument: boolean
}

/** One file in a content coding; it stands at `variantPath(file.path, variant.coding)`. */
export interface ManifestVariant {
  readonly coding: ContentCoding
  /** In bytes, as on the disk. */
  readonly size: number
  /** Of the encoded bytes, lower-case hexadecimal. */
  readonly sha256: string
}
