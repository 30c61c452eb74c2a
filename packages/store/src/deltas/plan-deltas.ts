import { dictionariesOf, type Manifest, type ManifestFile } from '@serve-dist/manifest'
import type { NamedBlob } from '../layout.ts'
import type { DeltasDocument, DeltasOfFile, DeltaVariants } from './deltas-document.ts'

/** How many builds before the current one give dictionaries. */
export const dictionaryGenerations = 3

/** A build that browsers may have files of. */
export interface DictionaryBuild {
  readonly manifest: Manifest
  readonly deltas: DeltasDocument | undefined
}

/** A file, and an earlier one that is to be its dictionary. */
export interface DeltaPair {
  readonly file: ManifestFile
  readonly dictionary: NamedBlob
}

/** What deltas a build is to have. */
export interface DeltasPlan {
  /** Those that were made for an earlier build. */
  readonly carried: DeltasDocument['files']
  /** Those to be made, in their order: what most visitors have comes first, and of that the largest. */
  readonly pairs: readonly DeltaPair[]
}

/** Deltas of one file that are carried: a file that comes back with every other build would have one from each between. */
const mostCarried = 8

/**
 * Finds which files of a build get deltas: those that are dictionaries themselves. Of two with one stem only the larger
 * is: a browser that has loaded it offers it, and no earlier file, for the other.
 *
 * @param earlier - newest first.
 * @param isThere - whether the store has a blob.
 */
export function planDeltas(
  manifest: Manifest,
  earlier: readonly DictionaryBuild[],
  isThere: (blob: NamedBlob) => boolean,
): DeltasPlan {
  const largestFirst = [...dictionariesOf(manifest).values()].map(({ file }) => file)
  const known = new Map<string, DeltasOfFile>()
  // Of several, the newest counts.
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
  for (const build of earlier) {
    const dictionaries = dictionariesOf(build.manifest)
    for (const file of largestFirst) {
      const dictionary = dictionaries.get(file.stem ?? '')?.file
      if (dictionary === undefined || dictionary.sha256 === file.sha256) continue
      const name = `${file.sha256} ${dictionary.sha256}`
      if (planned.has(name) || carried.get(file.sha256)?.has(dictionary.sha256) === true) continue
      planned.add(name)
      pairs.push({ file, dictionary })
    }
  }
  return { carried, pairs }
}

/** Of one file as many deltas as are carried, those from what the last builds have first. */
function newestOf(deltas: DeltasOfFile, builds: readonly ReadonlySet<string>[]): DeltasOfFile {
  if (deltas.size <= mostCarried) return deltas
  const ageOf = (from: string): number => {
    const build = builds.findIndex((files) => files.has(from))
    return build === -1 ? builds.length : build
  }
  return new Map([...deltas].toSorted(([one], [other]) => ageOf(one) - ageOf(other)).slice(0, mostCarried))
}

/** A document without what the store does not have. */
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
