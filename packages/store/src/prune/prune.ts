import type { StoreBackend } from '../backend.ts'
import { type ChangeOptions, resolveChangeOptions } from '../change-options.ts'
import { resolveRetention, type Retention } from '../history/kept-generations.ts'
import { requireConditionalWrites } from '../require-conditional-writes.ts'
import { observeStore } from '../observe-store.ts'
import { planAndDelete } from './plan-and-delete.ts'
import { planPrune } from './plan-prune.ts'
import { describePrune, type Pruned } from './pruned.ts'

/** What a prune did, or would do. */
export interface PruneSummary extends Pruned {
  readonly isDryRun: boolean
  /** The ids of all builds that the store has now, newest first. */
  readonly kept: readonly string[]
  readonly requests: number
  readonly warnings: readonly string[]
}

/**
 * Deletes the builds that retention lets go, and blobs that no build names. Each publish does so at its end.
 *
 * @param retention - what is left out is as by default.
 * @throws OperatorError `SD_STORE_CONFLICT` where others change the store again and again; `SD_STORE_UNCONDITIONAL` where the
 * endpoint could not tell that; `SD_STORE_UNAVAILABLE`.
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
    async ({ history }, listed) => await planPrune(observed, { history, listed }, limits),
  )
  const { pruned, warnings } = describePrune(change)
  const { kept } = change.plan
  return { isDryRun: resolved.isDryRun, kept, ...pruned, requests: observed.requests, warnings }
}
