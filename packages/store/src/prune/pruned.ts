import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { sumBytes } from '../sum-bytes.ts'
import type { Inventory } from '../list-objects.ts'
import type { PlannedChange } from './plan-and-delete.ts'
import type { ChangePlan } from './swap-and-delete.ts'

/** The deleted objects. For a dry run, the objects to delete. */
export interface Pruned {
  /** The sorted ids of the builds. */
  readonly generations: readonly string[]
  readonly blobs: number
  /** The number of bytes of the blobs. */
  readonly bytes: number
}

/** Counts the builds and blobs with these keys. */
export function prunedOf(keys: Iterable<string>, { all: listed }: Inventory): Pruned {
  const all = new Set(keys)
  const blobs = listed.filter(({ key }) => all.has(key))
  const generations = new Set([...all].flatMap((key) => /^generations\/(\w+)\.json/.exec(key)?.[1] ?? []))
  return { generations: [...generations].toSorted(), blobs: blobs.length, bytes: sumBytes(blobs) }
}

/** Describes the objects that a prune deleted, and adds a warning if some remain. */
export function describePrune({
  plan: { keys, warnings },
  inventory,
  deletion,
}: PlannedChange<ChangePlan & { readonly warnings: readonly string[] }>): {
  readonly pruned: Pruned
  readonly warnings: readonly string[]
} {
  const pruned = prunedOf(deletion?.deleted ?? keys, inventory)
  if (deletion?.failure === undefined) return { pruned, warnings }
  const undeleted = `some unreferenced objects were not deleted (${reasonOf(deletion.failure)}). The next publish tries again.`
  return { pruned, warnings: [...warnings, undeleted] }
}
