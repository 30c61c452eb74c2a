import type { Manifest } from '@serve-dist/manifest'
import type { MemoryLimits } from '../files/choose-streamed-files.ts'
import type { ExpectedFile, Verification } from '../files/inspect-file.ts'
import type { Inspection } from '../files/inspect-files.ts'
import type { StoredDeltas } from '../site/kept-build.ts'
import type { ManifestEntry, Site, StoredBytes } from '../site/site.ts'
import type { StoreView } from '../site/store-view.ts'
import type { EarlierBuild } from './select-kept-builds.ts'
import type { ReadManifestOptions } from './read-manifest.ts'
import type { WatchedBuilds } from './watched-builds.ts'

/** A source of builds: a folder whose build changes, or a store. */
export interface BuildSource {
  /** The name of the source in messages. */
  readonly place: string
  /** How to watch a store for new builds. */
  readonly watched?: WatchedBuilds
  /** The state of a store for operators. */
  readonly store?: StoreView
  /**
   * Fetches new builds.
   *
   * @throws OperatorError if that fails.
   */
  refresh?(): Promise<void>
  /**
   * Returns all builds except the one with this id. A newer build can be among them, and its own files may not be fetched.
   *
   * @throws OperatorError if the source does not respond.
   */
  listBuilds?(buildId: string): Promise<KeptBySource>
  /** Asks the primary process to load the current build, if another process decides about builds. */
  readonly lookNow?: () => Promise<unknown>
  /** Notes that the build with this id is now served. */
  noteServed?(buildId: string): void
  /** Returns a text that identifies the latest build, or `undefined` if there is no manifest. */
  mark(): Promise<string | undefined>
  /** Stops fetching builds. */
  close?(): void
  /** @param hasManifest - whether `mark` found a manifest. */
  open(hasManifest: boolean): Promise<SourceBuild>
}

/** The earlier builds that a source keeps. */
export interface KeptBySource {
  /**
   * Returns the builds with all their bytes, the newest first.
   *
   * @param before - the builds that were served before.
   */
  builds(before: readonly EarlierBuild[]): readonly EarlierBuild[]
  /** Returns the source of bytes without room in memory, or `undefined` if the source does not have them. */
  readonly coldBytesOf: (entry: ManifestEntry) => StoredBytes | undefined
  /** Equal for equal builds. */
  readonly identity: string
}

export interface DeltaRoom {
  /** The room in bytes. */
  readonly room: number
  readonly onWarning: (message: string) => void
}

export interface SourceBuild {
  /** The place as the operator named it. */
  readonly directory: string
  /** The store of the build, as the operator named it; absent for a folder. */
  readonly store?: string
  /** The folder of the build. */
  readonly root: string
  /** Whether there is a manifest. Otherwise the folder is described. */
  readonly hasManifest: boolean
  /** The command that writes a new manifest. */
  readonly cure: string
  readManifest(options: Omit<ReadManifestOptions, 'directory'>): Promise<Manifest>
  /** Returns the files that the manifest does not list. */
  findUnlisted(manifest: Manifest): readonly string[]
  /** Inspects files like `inspectFiles`. */
  inspect(
    files: readonly ExpectedFile[],
    inspection: Omit<Inspection, 'cure'>,
  ): Promise<ReadonlyMap<ManifestEntry, StoredBytes>>
  /**
   * Reads deltas into memory until the room is used up. It never rejects.
   *
   * @returns the deltas, or `undefined` for a build without deltas.
   */
  readDeltasIntoMemory(manifest: Manifest, options: DeltaRoom): Promise<StoredDeltas | undefined>
  /**
   * Reads the earlier builds of the same source. A folder's builds are held in memory as far as `limits` allow.
   *
   * @throws OperatorError if their files are missing or changed.
   */
  readKept(manifest: Manifest, verify: Verification, limits: MemoryLimits): Promise<KeptBySource | undefined>
  /** Returns a warning for the start. Reloads do not print it. */
  describeStart(site: Site, manifest: Manifest): Promise<string | undefined>
}
