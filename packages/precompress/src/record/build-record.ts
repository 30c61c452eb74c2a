import type {
  AppType,
  ContentCoding,
  RuntimeEnvironment,
  Selection,
  ServingRules,
} from '@serve-dist/manifest'

/** The version of the format that this package reads and writes. */
export const recordVersion = 1

/** The bundler's facts about a folder that the files alone do not show. Paths are relative to the folder, with `/`. */
export interface BuildRecord {
  readonly version: typeof recordVersion
  /** Time of the build: ISO 8601, UTC, whole seconds; `SOURCE_DATE_EPOCH` if set. */
  readonly time: string
  /** Set while the build writes. A failed build leaves such a record. */
  readonly begun?: boolean
  /** Whether browsers or a server run the output. */
  readonly role: 'client' | 'server'
  /** The URL path of the build. Starts and ends with `/`. */
  readonly base: string
  readonly appType: AppType
  /** The folder of hashed assets without a trailing slash; `''` for the root or none. */
  readonly assetsDirectory: string
  /** The options `include` and `exclude` of the plugin. */
  readonly selection: Selection
  readonly codings?: readonly ContentCoding[]
  readonly minimumSize?: number
  readonly serving?: ServingRules
  /** The environment variables of the server that the application reads. */
  readonly environment?: RuntimeEnvironment
  /** Sources that the build needs in a `Content-Security-Policy`, such as `blob:` for an inline worker. */
  readonly policy?: readonly PolicyNeed[]
  /** Paths of scripts of workers. */
  readonly workers?: readonly string[]
  /** Which files pages announce. `false`: none. */
  readonly preload: PagePreloads | false
  /** Globs of files whose names the framework hashes by contract. */
  readonly promises: readonly string[]
  /** Files whose names the bundler hashed, by path. */
  readonly hashed: Readonly<Record<string, HashedFile>>
  /** Chunks of the build, by path. */
  readonly graph: Readonly<Record<string, ChunkNeeds>>
  /** Chunks of a server build in this folder of a client. `writeRecord` finds them. */
  readonly serverChunks?: readonly string[]
}

/** A source that a `Content-Security-Policy` must name so that this build works. */
export interface PolicyNeed {
  /** For example `worker-src`. */
  readonly directive: string
  /** The source as in the header field, with quotes. */
  readonly source: string
  /** The part of the build that needs the source, such as "an inline worker in main.js". */
  readonly reason: string
}

/** Announcements of pages in addition to scripts and styles. */
export interface PagePreloads {
  readonly fonts: boolean
}

/** A file whose name contains a hash of its bytes. */
export interface HashedFile {
  /** Lower-case hexadecimal. */
  readonly sha256: string
  /** The path with `[hash]` instead of each hash, if the bundler tells which part that is. */
  readonly stem?: string
}

/** The static dependencies of a chunk. */
export interface ChunkNeeds {
  /** Chunks in import order. */
  readonly imports: readonly string[]
  readonly styles: readonly string[]
}

/** A record in the cache, which may be far from the folder. */
export interface StoredRecord {
  /** Absolute path of the project's root. */
  readonly root: string
  /** Absolute path of the output folder. */
  readonly folder: string
  readonly record: BuildRecord
}

/** A record before `writeRecord` adds its version and time. */
export type BuildFacts = Omit<BuildRecord, 'version' | 'time' | 'serverChunks'>
