import type { ManifestFile } from '@serve-dist/manifest'

/** The same file in two builds. */
export interface FilePair {
  readonly before: ManifestFile
  readonly after: ManifestFile
}

/** So many neighbours by size are weighed for each file, which bounds the work for thousands of equal names. */
const neighbours = 8

/**
 * Pairs files that their names do not tell apart, the nearest in size first, until one side is used up.
 * The order of either list plays no part.
 */
export function pairNearestSizes(
  before: readonly ManifestFile[],
  after: readonly ManifestFile[],
): FilePair[] {
  const pairs: FilePair[] = []
  let restBefore = before.toSorted(bySize)
  let restAfter = after.toSorted(bySize)
  while (restBefore.length > 0 && restAfter.length > 0) {
    const taken = new Set<ManifestFile>()
    for (const pair of nearestPairs(restBefore, restAfter)) {
      if (taken.has(pair.before) || taken.has(pair.after)) continue
      taken.add(pair.before).add(pair.after)
      pairs.push(pair)
    }
    restBefore = restBefore.filter((file) => !taken.has(file))
    restAfter = restAfter.filter((file) => !taken.has(file))
  }
  return pairs
}

/** Each file with its neighbours on the other side, the nearest pairs first. Both lists are sorted by size. */
function nearestPairs(before: readonly ManifestFile[], after: readonly ManifestFile[]): FilePair[] {
  const pairs: FilePair[] = []
  let position = 0
  let rank = -1
  for (const file of before) {
    const start = position
    while (position < after.length && (after[position]?.size ?? 0) < file.size) position += 1
    // Where many have the same neighbours, all of one size for instance, each has some of its own as well.
    rank = position === start ? rank + 1 : 0
    const centres = [position, position - rank, position + rank]
    const near = new Set(
      centres.flatMap((centre) =>
        after.slice(Math.max(0, centre - neighbours), Math.max(0, centre + neighbours)),
      ),
    )
    for (const other of near) pairs.push({ before: file, after: other })
  }
  return pairs.toSorted(
    (a, b) => distance(a) - distance(b) || bySize(a.before, b.before) || bySize(a.after, b.after),
  )
}

/** By how much the sizes differ, as a ratio: 10 bytes mean more to a file of 100 than to one of 100,000. */
function distance({ before, after }: FilePair): number {
  return Math.abs(Math.log((after.size + 1) / (before.size + 1)))
}

function bySize(a: ManifestFile, b: ManifestFile): number {
  return a.size - b.size || (a.path < b.path ? -1 : Number(a.path > b.path))
}
