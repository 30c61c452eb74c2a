import type { Manifest, ManifestFile } from '@serve-dist/manifest'

/** One file as two builds have it; one of the two may be missing. */
export interface MatchedFile {
  /** What both builds call it: the path, with `HASH` in the place of a hash that changed. */
  readonly name: string
  readonly before: ManifestFile | undefined
  readonly after: ManifestFile | undefined
}

/** What two files have in common that are the same one, the surest first. */
const sharedKeys: readonly ((file: ManifestFile) => string | undefined)[] = [
  ({ path }) => path,
  (file) => stemOf(file) && `${stemOf(file)}\n${file.sha256}`,
  stemOf,
  ({ sha256 }) => sha256,
]

/**
 * Finds out which files of two builds are the same ones: those under the same path, then those of one stem (equal bytes
 * first, else the largest belongs to the largest), then those with the same bytes, which were renamed. Every file is in
 * exactly one of the answers, sorted by name.
 */
export function matchFiles(before: Manifest, after: Manifest): MatchedFile[] {
  const matched: MatchedFile[] = []
  let gone = before.files.toSorted(largestFirst)
  let added = after.files.toSorted(largestFirst)
  for (const keyOf of sharedKeys) {
    const taken = new Set<ManifestFile>()
    const waiting = new Map<string | undefined, ManifestFile[]>()
    for (const file of gone) {
      const others = waiting.get(keyOf(file))
      if (others === undefined) waiting.set(keyOf(file), [file])
      else others.push(file)
    }
    for (const file of added) {
      const key = keyOf(file)
      const earlier = key === undefined ? undefined : waiting.get(key)?.shift()
      if (earlier === undefined) continue
      taken.add(earlier).add(file)
      matched.push({ name: nameOf(earlier, file), before: earlier, after: file })
    }
    gone = gone.filter((file) => !taken.has(file))
    added = added.filter((file) => !taken.has(file))
  }
  return withOwnNames([
    ...matched,
    ...gone.map((file) => ({ name: file.path, before: file, after: undefined })),
    ...added.map((file) => ({ name: file.path, before: undefined, after: file })),
  ]).toSorted(byName)
}

/**
 * The name without the hash, as the build recorded it. Earlier manifests have none: there, the eight characters before
 * the extension are the hash, which is Vite's default.
 */
function stemOf({ stem, path, cache }: ManifestFile): string | undefined {
  if (stem !== undefined || cache !== 'immutable') return stem
  const guess = path.replace(/(?<![^-._/])[\w-]{8}(?=\.\w+(?:\.map)?$)/, '[hash]')
  return guess === path ? undefined : guess
}

function nameOf(before: ManifestFile, after: ManifestFile): string {
  const stem = stemOf(after)
  return before.path === after.path || stem !== stemOf(before) || stem === undefined
    ? after.path
    : stem.replaceAll('[hash]', 'HASH')
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

/** Sorting is stable: files of one size stay in the order of their paths. */
function largestFirst(a: ManifestFile, b: ManifestFile): number {
  return b.size - a.size
}

function byName(a: MatchedFile, b: MatchedFile): number {
  return a.name < b.name ? -1 : Number(a.name > b.name)
}
