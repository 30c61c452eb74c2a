import { dictionariesOf, type Manifest, type ManifestFile } from '@serve-dist/manifest'
import type { NamedBlob } from '../layout.ts'
import type { DeltasDocument, DeltasOfFile, DeltaVariants } from './deltas-document.ts'

/** The number of builds before the current one whose files serve as dictionaries. */
export const dictionaryGenerations = 3

/** A build whose files browsers may have cached. */
export interface DictionaryBuild {
  readonly manifest: Manifest
  readonly deltas: DeltasDocument | undefined
}

/** A file and the earlier file that is to be its dictionary. */
export interface DeltaPair {
  readonly file: ManifestFile
  readonly dictionary: NamedBlob
}

/** The deltas that a build is to have. */
export interface DeltasPlan {
  /** The deltas that were encoded for an earlier build. */
  readonly carried: DeltasDocument['files']
  /** The deltas to encode. The most recent dictionaries come first, and for each of them the largest files. */
  readonly pairs: readonly DeltaPair[]
}

/**
 * The maximum number of deltas to carry over for one file. A file that alternates between versions would collect one
 * from each build.
 */
const mostCarried = 8

/**
 * Decides which files of a build get deltas: those that are dictionaries themselves. If two files have the same stem,
 * only the larger file is one. A browser that has loaded that file offers it, and no earlier file, for the other.
 *
 * @param earlier - the newest build first.
 * @param isThere - whether the store has a blob.
 */
export function planDeltas(
  manifest: Manifest,
  earlier: readonly DictionaryBuild[],
  isThere: (blob: NamedBlob) => boolean,
): DeltasPlan {
  const largestFirst = [...dictionariesOf(manifest).values()].map(({ file }) => file)
  const known = new Map<string, DeltasOfFile>()
  for (const { deltas } of earlier.toReversed()) {
    for (const { sha256 } of largestFirst) {
      known.set(sha256, new Map([...(known.get(sha256) ?? []), ...(deltas?.files.get(sha256) ?? [])]))
    }
  }
  const recent = earlier.map(({ manifest: { files } }) => new Set(files.map(({ sha256 }) => sha256)))
  const carried = new Map(
    [...selectAvailableDeltas(known, isThere)].map(([sha256, deltas]) => [sha256, newestOf(deltas, recent)]),
  )
  const pairs: DeltaPair[] = []
  const planned = new Set<string>()
  // Several new files may have the same bytes.
  const counts = new Map<string, number>()
  for (const build of earlier) {
    const dictionaries = dictionariesOf(build.manifest)
    for (const file of largestFirst) {
      const dictionary = dictionaries.get(file.stem ?? '')?.file
      if (dictionary === undefined || dictionary.sha256 === file.sha256) continue
      const name = `${file.sha256} ${dictionary.sha256}`
      if (planned.has(name) || carried.get(file.sha256)?.has(dictionary.sha256) === true) continue
      const count = counts.get(file.sha256) ?? 0
      if (count === dictionaryGenerations) continue
      counts.set(file.sha256, count + 1)
      planned.add(name)
      pairs.push({ file, dictionary })
    }
  }
  return { carried, pairs }
}

/** Selects the deltas to carry over. Those from the most recent builds come first. */
function newestOf(deltas: DeltasOfFile, builds: readonly ReadonlySet<string>[]): DeltasOfFile {
  if (deltas.size <= mostCarried) return deltas
  const ageOf = (from: string): number => {
    const build = builds.findIndex((files) => files.has(from))
    return build === -1 ? builds.length : build
  }
  return new Map([...deltas].toSorted(([one], [other]) => ageOf(one) - ageOf(other)).slice(0, mostCarried))
}

/** Returns the deltas whose blobs the store has. */
export function selectAvailableDeltas(
  files: DeltasDocument['files'],
  isThere: (blob: NamedBlob) => boolean,
): DeltasDocument['files'] {
  const left = new Map<string, DeltasOfFile>()
  for (const [sha256, deltas] of files) {
    const there = new Map<string, DeltaVariants>()
    for (const [from, { dcz, dcb }] of deltas) {
      const variants = {
        ...(dcz !== undefined && isThere(dcz) && { dcz }),
        ...(dcb !== undefined && isThere(dcb) && { dcb }),
      }
      if (Object.keys(variants).length > 0) there.set(from, variants)
    }
    if (there.size > 0) left.set(sha256, there)
  }
  return left
}
