import type {
  AppType,
  ContentCoding,
  RuntimeEnvironment,
  Selection,
  ServingRules,
} from '@serve-dist/manifest'

/** The version of the format that this package reads and writes. */
export const recordVersion = 1

/** What the bundler knew when it wrote a folder, and nobody can tell from the files later. Paths are relative to it, with `/`. */
export interface BuildRecord {
  readonly version: typeof recordVersion
  /** When the build wrote: ISO 8601, UTC, whole seconds; `SOURCE_DATE_EPOCH` if that is set. */
  readonly time: string
  /** Whether the build had only begun to write: one that fails says no more. */
  readonly begun?: boolean
  /** Whether browsers or a server run what the folder holds. */
  readonly role: 'client' | 'server'
  /** The path under which the build is served; begins and ends with `/`. */
  readonly base: string
  readonly appType: AppType
  /** The folder of hashed assets, without a slash at its end; `''` for the root or none. */
  readonly assetsDirectory: string
  /** What the plugin's options take and leave. */
  readonly selection: Selection
  readonly codings?: readonly ContentCoding[]
  readonly minimumSize?: number
  readonly serving?: ServingRules
  /** What the application takes from the environment of the process that serves it. */
  readonly environment?: RuntimeEnvironment
  /** What the bundler knew that a `Content-Security-Policy` must name. */
  readonly policy?: readonly PolicyNeed[]
  /** The scripts of workers. */
  readonly workers?: readonly string[]
  /** What pages announce ahead; `false`: nothing. */
  readonly preload: PagePreloads | false
  /** Globs of files whose names the framework hashes by contract, whoever writes them. */
  readonly promises: readonly string[]
  /** The files whose names the bundler hashed, by path. */
  readonly hashed: Readonly<Record<string, HashedFile>>
  /** The chunks of the build, by path. */
  readonly graph: Readonly<Record<string, ChunkNeeds>>
  /** The chunks that a build for a server wrote into this folder of a client; `writeRecord` finds them. */
  readonly serverChunks?: readonly string[]
}

/** A source that a `Content-Security-Policy` must name so that this build works. */
export interface PolicyNeed {
  /** Such as `worker-src`. */
  readonly directive: string
  /** As it stands in the field, quotes included. */
  readonly source: string
  /** What in the build needs it, for whoever reads the policy: "an inline worker in main.js". */
  readonly reason: string
}

/** What pages announce besides scripts and styles. */
export interface PagePreloads {
  readonly fonts: boolean
}

/** A file whose name carries a hash of these very bytes. */
export interface HashedFile {
  /** Lower-case hexadecimal. */
  readonly sha256: string
  /** The path with `[hash]` in the place of each hash, where the bundler tells which part that is. */
  readonly stem?: string
}

/** What one chunk cannot run without; what it may import later is not among it. */
export interface ChunkNeeds {
  /** Chunks, in the order in which they are imported. */
  readonly imports: readonly string[]
  readonly styles: readonly string[]
}

/** A record as the cache keeps it, where it may be far from the folder that it is of. */
export interface StoredRecord {
  /** The project's root, absolute. */
  readonly root: string
  /** The folder that the build wrote, absolute. */
  readonly folder: string
  readonly record: BuildRecord
}

/** A record before it is written: `writeRecord` dates it. */
export type BuildFacts = Omit<BuildRecord, 'version' | 'time' | 'serverChunks'>
