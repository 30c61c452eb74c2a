import type { Manifest, ManifestFile } from '@serve-dist/manifest'
import { matchingNames } from '../folder/list-files.ts'
import { createLinksOf } from '../links/links-of-page.ts'
import type { LinksOf, PrecompressOptions } from '../precompress-options.ts'
import type { BuildRecord, ChunkNeeds, PolicyNeed } from '../record/build-record.ts'
import type { RecordedFacts } from './precompress.ts'
import { endsAs, type FoundRecords, indexHashedNames } from '../record/find-records.ts'

/** Where else something is known of a folder. */
export interface JoinOptions {
  readonly base: string
  /** The manifest that the folder had. */
  readonly earlier: Manifest | undefined
  /** Globs of files whose names the framework hashes by contract, besides those of the records. */
  readonly promises: readonly string[]
}

/** What nobody can tell from the files alone. */
interface JoinedFacts {
  readonly options: Pick<PrecompressOptions, 'isHashed' | 'linksOf'>
  readonly known: RecordedFacts
}

/** Joins what the builds of a folder wrote down with what its earlier manifest says. */
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
 * Which names are hashed: those that a record or the earlier manifest knows for these very bytes, and what a framework
 * promises for all that it writes into a folder of its own.
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

/** Whether a file is the script of a worker, as a record or an earlier manifest knows it: below other folders too. */
function workersOf({ promising }: FoundRecords, earlier: Manifest | undefined): (path: string) => boolean {
  const recorded = promising.flatMap(({ workers = [] }) => workers)
  const before = new Set(earlier?.files.filter(({ worker }) => worker).map(({ path }) => path))
  return (path) => before.has(path) || recorded.some((end) => endsAs(path, end))
}

/** What builds recorded that a policy must name; without a record, what an earlier manifest says. */
function needsOf({ promising }: FoundRecords, earlier: Manifest | undefined): readonly PolicyNeed[] {
  if (promising.length > 0) return promising.flatMap(({ policy = [] }) => policy)
  return Object.entries(earlier?.policy ?? {}).flatMap(([directive, sources]) =>
    sources.map((source) => ({ directive, source, reason: 'the earlier manifest says so' })),
  )
}

/** Follows the bundler's graph where a build recorded one; else an earlier manifest's links are as good as ever. */
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

/** The pages of a framework name the styles that they need, or hold them (Nuxt): a script brings none at once. */
function neededChunks({ appType, graph, environment }: BuildRecord): [string, ChunkNeeds][] {
  // No chunk, and it imports nothing.
  const module = environment && { [environment.path]: { imports: [], styles: [] } }
  const all = Object.entries({ ...graph, ...module })
  return appType === 'custom' ? all.map(([path, { imports }]) => [path, { imports, styles: [] }]) : all
}
