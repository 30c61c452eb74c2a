import type { StoreBackend } from '../backend.ts'
import { type ChangeOptions, resolveChangeOptions } from '../change-options.ts'
import { resolveRetention, type Retention } from '../history/kept-generations.ts'
import { requireConditionalWrites } from '../require-conditional-writes.ts'
import { observeStore } from '../observe-store.ts'
import { planAndDelete } from './plan-and-delete.ts'
import { planPrune } from './plan-prune.ts'
import { describePrune, type Pruned } from './pruned.ts'

/** The result of a prune. For a dry run, the expected result. */
export interface PruneSummary extends Pruned {
  readonly isDryRun: boolean
  /** The ids of all builds that the store keeps, newest first. */
  readonly kept: readonly string[]
  readonly requests: number
  readonly warnings: readonly string[]
}

/**
 * Deletes builds beyond the retention limits, and old blobs that no build names. Each publish ends with a prune.
 *
 * @param retention - the limits. Missing values have their defaults.
 * @throws OperatorError `SD_STORE_CONFLICT` if other jobs change the store during each attempt;
 * `SD_STORE_UNCONDITIONAL` if the endpoint does not support conditional writes; `SD_STORE_UNAVAILABLE`.
 */
export async function prune(
  store: StoreBackend,
  retention: Partial<Retention> = {},
  options: ChangeOptions = {},
): Promise<PruneSummary> {
  const resolved = resolveChangeOptions(options)
  const limits = { ...resolved, retention: resolveRetention(retention) }
  const observed = observeStore(store)
  await requireConditionalWrites(observed, resolved)
  const change = await planAndDelete(
    observed,
    resolved,
    async ({ history }, inventory) => await planPrune(observed, { history, inventory }, limits),
  )
  const { pruned, warnings } = describePrune(change)
  const { kept } = change.plan
  return { isDryRun: resolved.isDryRun, kept, ...pruned, requests: observed.requests, warnings }
}
