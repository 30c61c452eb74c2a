import { OperatorError } from '@serve-dist/manifest'
import { maximumAttempts, type ResolvedChangeOptions } from '../change-options.ts'
import { type Head, readHead } from '../history/swap-history.ts'
import { type Inventory, listBlobs } from '../list-objects.ts'
import type { ObservedStore } from '../observe-store.ts'
import { type ChangePlan, type Deletion, swapAndDelete } from './swap-and-delete.ts'

/** A plan that was carried out, or that a dry run made. */
export interface PlannedChange<Plan> {
  readonly plan: Plan
  /** The blobs that the store had. */
  readonly inventory: Inventory
  /** Absent in a dry run. */
  readonly deletion: Deletion | undefined
}

/**
 * Plans a change and carries it out. If the history changes in the meantime, the plan is made again. Each deletion first
 * swaps the history, so available blobs stay if the swap of the plan succeeds (docs/decisions/024-stores.md).
 *
 * @throws OperatorError `SD_STORE_CONFLICT` if the history changes each time.
 */
export async function planAndDelete<Plan extends ChangePlan>(
  store: ObservedStore,
  options: ResolvedChangeOptions,
  plan: (head: Head, inventory: Inventory) => Promise<Plan>,
): Promise<PlannedChange<Plan>> {
  const { isDryRun, signal } = options
  for (let tries = 1; tries <= maximumAttempts; tries += 1) {
    signal?.throwIfAborted()
    const head = await readHead(store, options)
    const inventory = await listBlobs(store, head.history, options)
    const planned = await plan(head, inventory)
    if (isDryRun) return { plan: planned, inventory, deletion: undefined }
    const deletion = await swapAndDelete(store, { ...planned, head }, options)
    if (deletion !== undefined) return { plan: planned, inventory, deletion }
  }
  const problem = `${store.place}: the history changed during each of ${maximumAttempts} tries. Try again when no other job changes the store.`
  throw new OperatorError('SD_STORE_CONFLICT', problem)
}
