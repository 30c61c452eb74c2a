import type { Manifest } from '@serve-dist/manifest'
import type { ExpectedFile } from '../files/inspect-file.ts'
import type { Inspection } from '../files/inspect-files.ts'
import type { StoredDeltas } from '../site/kept-build.ts'
import type { ManifestEntry, Site, StoredBytes } from '../site/site.ts'
import type { StoreView } from '../site/store-view.ts'
import type { EarlierBuild } from './select-kept-builds.ts'
import type { ReadManifestOptions } from './read-manifest.ts'
import type { WatchedBuilds } from './watched-builds.ts'

/** Where builds are read from: a folder, in which one takes the place of another, or a store. */
export interface BuildSource {
  /** For messages. */
  readonly place: string
  /** What is watched for other builds, where that needs no folder of a build. */
  readonly watched?: WatchedBuilds
  /** What operators see of a store. */
  readonly store?: StoreView
  /**
   * Brings what is new to where it can be read.
   *
   * @throws OperatorError where it cannot be had.
   */
  refresh?(): Promise<void>
  /**
   * The builds that it has by now besides the one with this id, a newer one among them, whose own files need not be here.
   *
   * @throws OperatorError where it does not answer.
   */
  listBuilds?(buildId: string): Promise<KeptBySource>
  /** Has who decides about builds load what is current, where that is another process. */
  readonly lookNow?: () => Promise<unknown>
  /** The build with this id has taken its place. */
  noteServed?(buildId: string): void
  /** Tells the build that is there now from any other; `undefined` where there is no manifest. */
  mark(): Promise<string | undefined>
  /** Gives up what it brings. */
  close?(): void
  /** @param hasManifest - whether there was a mark. */
  open(hasManifest: boolean): Promise<SourceBuild>
}

/** The builds that a source keeps beside the current one. */
export interface KeptBySource {
  /**
   * The builds with all of their bytes, the newest first.
   *
   * @param before - what was served until now.
   */
  builds(before: readonly EarlierBuild[]): readonly EarlierBuild[]
  readonly coldBytesOf: (entry: ManifestEntry) => StoredBytes
  /** Equal for the same builds. */
  readonly identity: string
}

/** A build that is read once. */
export interface SourceBuild {
  /** As the operator named it. */
  readonly directory: string
  /** The folder of its site. */
  readonly root: string
  /** A build without one was described instead. */
  readonly hasManifest: boolean
  /** The command that makes the manifest anew. */
  readonly cure: string
  readManifest(options: Omit<ReadManifestOptions, 'directory'>): Promise<Manifest>
  /** What lies beside the files of a manifest. */
  findUnlisted(manifest: Manifest): readonly string[]
  /** As `inspectFiles`. */
  inspect(
    files: readonly ExpectedFile[],
    inspection: Omit<Inspection, 'cure'>,
  ): Promise<ReadonlyMap<ManifestEntry, StoredBytes>>
  /**
   * Brings the deltas of its files into memory, as many as there is room for. It never rejects.
   *
   * @param room - in bytes.
   * @returns `undefined` where nobody makes deltas of it.
   */
  readDeltasIntoMemory?(room: number): Promise<StoredDeltas | undefined>
  /** Where builds of before come from the same source: which, and what stands for bytes that are not in memory. */
  readonly kept?: KeptBySource
  /** What only a start tells of a site. */
  describeStart(site: Site, manifest: Manifest): Promise<string | undefined>
}
