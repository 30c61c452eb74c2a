import type { Manifest, ManifestFile } from '@serve-dist/manifest'
import { matchingNames } from '../folder/list-files.ts'
import { createLinksOf } from '../links/links-of-page.ts'
import type { LinksOf, PrecompressOptions } from '../precompress-options.ts'
import type { BuildRecord, ChunkNeeds, PolicyNeed } from '../record/build-record.ts'
import type { RecordedFacts } from './precompress.ts'
import { endsAs, type FoundRecords, indexHashedNames } from '../record/find-records.ts'

/** Other sources of facts about a folder. */
export interface JoinOptions {
  readonly base: string
  /** The earlier manifest of the folder. */
  readonly earlier: Manifest | undefined
  /** Globs of files whose names the framework hashes by contract, in addition to those of the records. */
  readonly promises: readonly string[]
}

/** Facts that the files alone do not show. */
interface JoinedFacts {
  readonly options: Pick<PrecompressOptions, 'isHashed' | 'linksOf'>
  readonly known: RecordedFacts
}

/** Combines the records of a folder's builds with its earlier manifest. */
export async function joinRecordedFacts(
  folder: string,
  found: FoundRecords,
  { base, earlier, promises }: JoinOptions,
): Promise<JoinedFacts> {
  const { isHashed, stemOf } = await knowNames(folder, found, { earlier, promises })
  return {
    options: { isHashed, linksOf: linksFrom(folder, base, found, earlier) },
    known: { stemOf, isWorker: workersOf(found, earlier), needs: needsOf(found, earlier) },
  }
}

/**
 * Finds hashed names: names that a record or the earlier manifest lists with the same digest, and names that a
 * framework promises for its own folder.
 */
async function knowNames(
  folder: string,
  { promising, all }: FoundRecords,
  known: { readonly earlier: Manifest | undefined; readonly promises: readonly string[] },
): Promise<{
  readonly isHashed: (path: string, sha256: string) => boolean
  readonly stemOf: (path: string, sha256: string) => string | undefined
}> {
  const recorded = indexHashedNames(all)
  const before = new Map(known.earlier?.files.map((file) => [file.path, file]))
  const lists = [...promising.map((record) => record.promises), known.promises]
  const promised = new Set<string>()
  for (const include of lists.filter((globs) => globs.length > 0)) {
    for (const path of await matchingNames(folder, { include, exclude: [] })) promised.add(path)
  }
  const ofEarlier = (path: string, sha256: string): ManifestFile | undefined => {
    const file = before.get(path)
    return file?.cache === 'immutable' && file.sha256 === sha256 ? file : undefined
  }
  return {
    isHashed: (path, sha256) =>
      promised.has(path) || recorded(path, sha256) !== undefined || ofEarlier(path, sha256) !== undefined,
    stemOf: (path, sha256) => recorded(path, sha256)?.stem ?? ofEarlier(path, sha256)?.stem,
  }
}

/**
 * Returns a test for scripts of workers, based on the records and the earlier manifest. Also matches files that moved
 * into another folder.
 */
function workersOf({ promising }: FoundRecords, earlier: Manifest | undefined): (path: string) => boolean {
  const recorded = promising.flatMap(({ workers = [] }) => workers)
  const before = new Set(earlier?.files.filter(({ worker }) => worker).map(({ path }) => path))
  return (path) => before.has(path) || recorded.some((end) => endsAs(path, end))
}

/** Returns the recorded policy needs, otherwise those of the earlier manifest. */
function needsOf({ promising }: FoundRecords, earlier: Manifest | undefined): readonly PolicyNeed[] {
  if (promising.length > 0) return promising.flatMap(({ policy = [] }) => policy)
  return Object.entries(earlier?.policy ?? {}).flatMap(([directive, sources]) =>
    sources.map((source) => ({ directive, source, reason: 'the earlier manifest contains it' })),
  )
}

/** Returns links that follow the bundler's graph, or without a record the links of the earlier manifest. */
function linksFrom(
  folder: string,
  base: string,
  { main, promising }: FoundRecords,
  earlier: Manifest | undefined,
): LinksOf {
  if (main === undefined) {
    const links = new Map(earlier?.files.map((file) => [file.path, file.links ?? []]))
    return (page, paths) => (links.get(page) ?? []).filter(({ path }) => paths.has(path))
  }
  const { preload, role } = main.record
  if (preload === false) return () => []
  const graph = new Map(promising.filter((record) => record.role === role).flatMap(neededChunks))
  return createLinksOf({ folder, base, graph }, preload)
}

/** Returns the graph of a build. Pages of frameworks contain or inline their styles, so their chunks need none. */
function neededChunks({ appType, graph, environment }: BuildRecord): [string, ChunkNeeds][] {
  // The environment module is not a chunk and has no imports.
  const module = environment && { [environment.path]: { imports: [], styles: [] } }
  const all = Object.entries({ ...graph, ...module })
  return appType === 'custom' ? all.map(([path, { imports }]) => [path, { imports, styles: [] }]) : all
}
