import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { bytesOf } from '../bytes-of.ts'
import type { ListedBlobs } from '../list-blobs.ts'

/** What was deleted, or would be. */
export interface Pruned {
  /** Ids, sorted. */
  readonly generations: readonly string[]
  readonly blobs: number
  /** Of the blobs. */
  readonly bytes: number
}

/** What stands under these keys. */
export function prunedOf(keys: Iterable<string>, listed: ListedBlobs): Pruned {
  const all = new Set(keys)
  const blobs = [...listed.values()].filter(({ key }) => all.has(key))
  const generations = [...all].flatMap((key) => /^generations\/(\w+)\.json$/.exec(key)?.[1] ?? [])
  return { generations: generations.toSorted(), blobs: blobs.length, bytes: bytesOf(blobs) }
}

/** Why there is more in a store than there need be. */
export function undeleted(failure: unknown): string {
  return `not all that no build names any more was deleted (${reasonOf(failure)}); the next publish tries again`
}
