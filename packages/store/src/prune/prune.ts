import { OperatorError } from '@serve-dist/manifest'
import type { StoreBackend } from '../backend.ts'
import { type ChangeOptions, mostTries, resolveChangeOptions } from '../change-options.ts'
import { resolveRetention, type Retention } from '../history/kept-generations.ts'
import { expectConditions } from '../expect-conditions.ts'
import { readHead, readQuietHead } from '../history/swap-history.ts'
import { listBlobs } from '../list-blobs.ts'
import { observeStore } from '../observe-store.ts'
import { planPrune } from './plan-prune.ts'
import { type Pruned, prunedOf, undeleted } from './pruned.ts'
import { swapAndDelete } from './swap-and-delete.ts'

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
  const { isDryRun, signal } = resolved
  const observed = observeStore(store)
  await expectConditions(observed, resolved)
  for (let tries = 1; tries <= mostTries; tries += 1) {
    signal?.throwIfAborted()
    const head = isDryRun ? await readHead(observed, resolved) : await readQuietHead(observed, resolved)
    const listed = await listBlobs(observed, resolved)
    const plan = await planPrune(observed, { history: head.history, listed, known: new Map() }, limits)
    const { history: next, keys, kept, warnings } = plan
    const summary = { isDryRun, kept, requests: observed.requests }
    if (isDryRun) return { ...summary, ...prunedOf(keys, listed), warnings }
    const deletion = await swapAndDelete(observed, { head, next, keys }, resolved)
    if (deletion === undefined) continue
    return {
      ...summary,
      ...prunedOf(deletion.deleted, listed),
      requests: observed.requests,
      warnings: 'failure' in deletion ? [...warnings, undeleted(deletion.failure)] : warnings,
    }
  }
  throw new OperatorError('SD_STORE_CONFLICT', `${store.place}: others change it again and again; try later`)
}
