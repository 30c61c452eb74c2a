import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { sumBytes } from '../sum-bytes.ts'
import type { ListedObjects } from '../list-objects.ts'
import type { PlannedChange } from './plan-and-delete.ts'
import type { ChangePlan } from './swap-and-delete.ts'

/** What was deleted, or would be. */
export interface Pruned {
  /** Ids, sorted. */
  readonly generations: readonly string[]
  readonly blobs: number
  /** Of the blobs. */
  readonly bytes: number
}

/** What stands under these keys. */
export function prunedOf(keys: Iterable<string>, listed: ListedObjects): Pruned {
  const all = new Set(keys)
  const blobs = [...listed.values()].filter(({ key }) => all.has(key))
  const generations = [...all].flatMap((key) => /^generations\/(\w+)\.json$/.exec(key)?.[1] ?? [])
  return { generations: generations.toSorted(), blobs: blobs.length, bytes: sumBytes(blobs) }
}

/** Describes what a prune deleted, or would delete, and what it could not delete. */
export function describePrune({
  plan: { keys, warnings },
  listed,
  deletion,
}: PlannedChange<ChangePlan & { readonly warnings: readonly string[] }>): {
  readonly pruned: Pruned
  readonly warnings: readonly string[]
} {
  const pruned = prunedOf(deletion?.deleted ?? keys, listed)
  if (deletion?.failure === undefined) return { pruned, warnings }
  const undeleted = `not all that no build names any more was deleted (${reasonOf(deletion.failure)}); the next publish tries again`
  return { pruned, warnings: [...warnings, undeleted] }
}
