import type { Manifest, ManifestFile } from '@serve-dist/manifest'
import { matchHashedFiles } from './match-hashed-files.ts'

/** One file as two builds have it; one of the two may be missing. */
export interface MatchedFile {
  /** What both builds call it: the path, with `HASH` in the place of a hash that changed. */
  readonly name: string
  readonly before: ManifestFile | undefined
  readonly after: ManifestFile | undefined
}

/**
 * Finds out which files of two builds are the same ones: those under the same path, then those with the same
 * bytes, which were renamed, then those whose names differ in a content hash alone. Every file is in exactly
 * one of the answers, sorted by name.
 */
export function matchFiles(before: Manifest, after: Manifest): MatchedFile[] {
  const pathsBefore = new Map(before.files.map((file) => [file.path, file]))
  const pathsAfter = new Set(after.files.map(({ path }) => path))
  const matched: MatchedFile[] = []
  let goneFiles = before.files.filter(({ path }) => !pathsAfter.has(path))
  let newFiles: ManifestFile[] = []
  for (const file of after.files) {
    const earlier = pathsBefore.get(file.path)
    if (earlier === undefined) newFiles.push(file)
    else matched.push({ name: file.path, before: earlier, after: file })
  }
  for (const find of [matchContents, matchHashes]) {
    const found = find(goneFiles, newFiles)
    for (const pair of found) matched.push(pair)
    const taken = new Set(found.flatMap((pair) => [pair.before, pair.after]))
    goneFiles = goneFiles.filter((file) => !taken.has(file))
    newFiles = newFiles.filter((file) => !taken.has(file))
  }
  return withOwnNames([
    ...matched,
    ...goneFiles.map((file) => ({ name: file.path, before: file, after: undefined })),
    ...newFiles.map((file) => ({ name: file.path, before: undefined, after: file })),
  ]).toSorted(byName)
}

/** Equal files under several names are paired in the order of their names. */
function matchContents(before: readonly ManifestFile[], after: readonly ManifestFile[]): MatchedFile[] {
  const contents = new Map<string, ManifestFile[]>(before.map(({ sha256 }) => [sha256, []]))
  for (const file of before) contents.get(file.sha256)?.push(file)
  return after.flatMap((file) => {
    const earlier = contents.get(file.sha256)?.shift()
    return earlier === undefined ? [] : [{ name: file.path, before: earlier, after: file }]
  })
}

function matchHashes(before: readonly ManifestFile[], after: readonly ManifestFile[]): MatchedFile[] {
  return matchHashedFiles(before.filter(isHashed), after.filter(isHashed))
}

function isHashed({ cache }: ManifestFile): boolean {
  return cache === 'immutable'
}

/** Two chunks that are both called `index-HASH.js` keep the hashes of the later build instead. */
function withOwnNames(matched: readonly MatchedFile[]): MatchedFile[] {
  const uses = new Map<string, number>()
  for (const { name } of matched) uses.set(name, (uses.get(name) ?? 0) + 1)
  return matched.map((file) => {
    const isOwn = uses.get(file.name) === 1 || file.after === undefined
    return isOwn ? file : { ...file, name: file.after.path }
  })
}

function byName(a: MatchedFile, b: MatchedFile): number {
  return a.name < b.name ? -1 : Number(a.name > b.name)
}
