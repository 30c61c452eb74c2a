import { OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { StoreBackend } from '../backend.ts'
import { type ChangeOptions, resolveChangeOptions, type ResolvedChangeOptions } from '../change-options.ts'
import { deltasKey } from '../deltas/deltas-document.ts'
import { requireConditionalWrites } from '../require-conditional-writes.ts'
import { findGeneration } from '../find-generation.ts'
import { withOnly } from '../history/next-history.ts'
import { blobKey, generationKey, generationsPrefix, type History, type HistoryRow } from '../layout.ts'
import { type ListedObjects, listObjects } from '../list-objects.ts'
import { observeStore, type ObservedStore } from '../observe-store.ts'
import { readBuilds } from '../read-builds.ts'
import { planAndDelete } from './plan-and-delete.ts'
import { type Pruned, prunedOf } from './pruned.ts'
import type { ChangePlan } from './swap-and-delete.ts'

/** What a purge did, or would do. */
export interface PurgeSummary extends Pruned {
  readonly id: string
  readonly isDryRun: boolean
  /** When the build was current: tabs that were opened then lose what only it had. */
  readonly rows: readonly HistoryRow[]
  /** How many of its blobs stay, because other builds name them. */
  readonly sharedBlobs: number
  readonly requests: number
}

/**
 * Takes a build out of a store at once, with all bytes that no other build names, however new they are. A publish under way
 * that relies on some of them sends them again.
 *
 * @param given - the id of the build, or its first digits.
 * @throws OperatorError `SD_GENERATION_MISSING` where the store has no such build; `SD_OPTION_INVALID` where it is current;
 * `SD_STORE_INVALID` where the manifest of another cannot be read, so that nobody knows which bytes it names;
 * `SD_STORE_UNCONDITIONAL` where the endpoint ignores conditions; `SD_STORE_UNAVAILABLE` where not all could be deleted: purge it again.
 */
export async function purge(
  store: StoreBackend,
  given: string,
  options: ChangeOptions = {},
): Promise<PurgeSummary> {
  const resolved = resolveChangeOptions(options)
  const observed = observeStore(store)
  await requireConditionalWrites(observed, resolved)
  const { plan, listed, deletion } = await planAndDelete(
    observed,
    resolved,
    async ({ history }, blobs) => await planPurge(observed, { history, given, blobs }, resolved),
  )
  const { id, rows, keys, sharedBlobs } = plan
  if (deletion?.failure !== undefined) {
    const problem = `${store.place}: build ${id} is out of the history, but not all of it could be deleted (${reasonOf(deletion.failure)}); purge it again`
    throw new OperatorError('SD_STORE_UNAVAILABLE', problem, { cause: deletion.failure })
  }
  const { isDryRun } = resolved
  return { id, isDryRun, rows, sharedBlobs, ...prunedOf(keys, listed), requests: observed.requests }
}

interface PurgePlan extends ChangePlan, Pick<PurgeSummary, 'id' | 'rows' | 'sharedBlobs'> {}

async function planPurge(
  store: ObservedStore,
  {
    history,
    given,
    blobs: listed,
  }: { readonly history: History; readonly given: string; readonly blobs: ListedObjects },
  options: ResolvedChangeOptions,
): Promise<PurgePlan> {
  const id = await findPurgeable(store, { history: history.history, given }, options)
  const others = new Set(history.history.map((row) => row.id).filter((other) => other !== id))
  const { blobs, unreadable, unreadableDeltas } = await readBuilds(store, [id, ...others], options)
  for (const [other, error] of [...unreadable, ...unreadableDeltas]) if (other !== id) throw error
  const named = new Set([...others].flatMap((other) => blobs.get(other) ?? []).map(({ sha256 }) => sha256))
  const all = blobs.get(id) ?? []
  const own = all.filter(({ sha256 }) => !named.has(sha256))
  const keys = own.filter(({ sha256 }) => listed.has(sha256)).map(({ sha256 }) => blobKey(sha256))
  return {
    id,
    rows: history.history.filter((row) => row.id === id),
    history: withOnly(history, others),
    // The generation last: what is left after a failure is found by it.
    keys: [...keys, deltasKey(id), generationKey(id)],
    sharedBlobs: all.length - own.length,
  }
}

/** Also one that a purge before could not delete as a whole. */
async function findPurgeable(
  store: ObservedStore,
  { history, given }: { readonly history: readonly HistoryRow[]; readonly given: string },
  options: ResolvedChangeOptions,
): Promise<string> {
  const objects = await listObjects(store, generationsPrefix, options)
  const id = findGeneration([...history.map((row) => row.id), ...objects.keys()], given, store.place)
  if (id !== history[0]?.id) return id
  const problem = `${store.place}: build ${id} is current; roll back, or publish another build, then purge it`
  throw new OperatorError('SD_OPTION_INVALID', problem)
}
