import type { Manifest, ManifestFile } from '@serve-dist/manifest'

/** A file in two builds. It can be missing in one of them. */
export interface MatchedFile {
  /** The common name: the path, with `HASH` instead of a changed hash. */
  readonly name: string
  readonly before: ManifestFile | undefined
  readonly after: ManifestFile | undefined
}

/** The properties that identify a file, the most reliable first. */
const sharedKeys: readonly ((file: ManifestFile) => string | undefined)[] = [
  ({ path }) => path,
  (file) => stemOf(file) && `${stemOf(file)}\n${file.sha256}`,
  stemOf,
  ({ sha256 }) => sha256,
]

/**
 * Pairs the files of two builds: first by path, then by stem (equal content first, then by descending size), then by
 * content (renamed files). Each file is in exactly one pair. The result is sorted by name.
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
 * Returns the name without the hash, as the build recorded it. For older manifests without stems, it assumes Vite's
 * default: eight characters before the extension.
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

/** Gives chunks with the same name, such as `index-HASH.js`, their paths in the later build. */
function withOwnNames(matched: readonly MatchedFile[]): MatchedFile[] {
  const uses = new Map<string, number>()
  for (const { name } of matched) uses.set(name, (uses.get(name) ?? 0) + 1)
  return matched.map((file) => {
    const isOwn = uses.get(file.name) === 1 || file.after === undefined
    return isOwn ? file : { ...file, name: file.after.path }
  })
}

/** Sorts by size. The order of paths is kept, because sorting is stable. */
function largestFirst(a: ManifestFile, b: ManifestFile): number {
  return b.size - a.size
}

function byName(a: MatchedFile, b: MatchedFile): number {
  return a.name < b.name ? -1 : Number(a.name > b.name)
}
