import { OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { shortId } from '@serve-dist/foundation/text/short-id'
import type { StoreBackend } from '../backend.ts'
import { type ChangeOptions, resolveChangeOptions, type ResolvedChangeOptions } from '../change-options.ts'
import { requireConditionalWrites } from '../require-conditional-writes.ts'
import { findGeneration } from '../find-generation.ts'
import { withOnly, withOnlySuffixes } from '../history/next-history.ts'
import { blobKey, generationsPrefix, type History, type HistoryRow, keyIn, withKeys } from '../layout.ts'
import { type Inventory, listObjects } from '../list-objects.ts'
import { observeStore, type ObservedStore } from '../observe-store.ts'
import { readBuilds } from '../read-builds.ts'
import { planAndDelete } from './plan-and-delete.ts'
import { plainKeysOf } from './plan-prune.ts'
import { type Pruned, prunedOf } from './pruned.ts'
import type { ChangePlan } from './swap-and-delete.ts'

/** The result of a purge. For a dry run, the expected result. */
export interface PurgeSummary extends Pruned {
  readonly id: string
  readonly isDryRun: boolean
  /** The periods in which the build was current. Tabs from then lose the files that only this build had. */
  readonly rows: readonly HistoryRow[]
  /** The number of its blobs that stay, because other builds name them. */
  readonly sharedBlobs: number
  readonly requests: number
}

/**
 * Deletes a build immediately, with all blobs that no other build names. A concurrent publish that needs one of these
 * blobs sends it again.
 *
 * @param given - the id of the build or a prefix of it.
 * @throws OperatorError `SD_GENERATION_MISSING` if the store does not have the build; `SD_OPTION_INVALID` if it is
 * current; `SD_STORE_INVALID` if the manifest of another build cannot be read; `SD_STORE_UNCONDITIONAL` if the endpoint
 * does not support conditional writes; `SD_STORE_UNAVAILABLE` if some objects were not deleted.
 */
export async function purge(
  store: StoreBackend,
  given: string,
  options: ChangeOptions = {},
): Promise<PurgeSummary> {
  const resolved = resolveChangeOptions(options)
  const observed = observeStore(store)
  await requireConditionalWrites(observed, resolved)
  const { plan, inventory, deletion } = await planAndDelete(
    observed,
    resolved,
    async ({ history }, blobs) => await planPurge(observed, { history, given, blobs }, resolved),
  )
  const { id, rows, keys, sharedBlobs } = plan
  if (deletion?.failure !== undefined) {
    const problem = `${store.place}: build ${shortId(id)} was removed from the history, but some of its objects may remain (${reasonOf(deletion.failure)}). Purge it until the store has no such build.`
    throw new OperatorError('SD_STORE_UNAVAILABLE', problem, { cause: deletion.failure })
  }
  const { isDryRun } = resolved
  return { id, isDryRun, rows, sharedBlobs, ...prunedOf(keys, inventory), requests: observed.requests }
}

interface PurgePlan extends ChangePlan, Pick<PurgeSummary, 'id' | 'rows' | 'sharedBlobs'> {}

async function planPurge(
  store: ObservedStore,
  {
    history,
    given,
    blobs: inventory,
  }: { readonly history: History; readonly given: string; readonly blobs: Inventory },
  options: ResolvedChangeOptions,
): Promise<PurgePlan> {
  const manifests = await listObjects(store, generationsPrefix, options)
  const id = findPurgeable(history.history, { manifests, given, place: store.place })
  const others = new Set(history.history.map((row) => row.id).filter((other) => other !== id))
  const own = manifests.filter(({ name }) => name === id).map(({ key }) => key)
  // A build that was purged only partly has no suffix in the history.
  const keysOfBuild = { suffixes: { ...withKeys({}, own), ...history.suffixes } }
  const read = await readBuilds(store, [id, ...others], { ...options, history: keysOfBuild })
  for (const [other, error] of [...read.unreadable, ...read.unreadableDeltas]) if (other !== id) throw error
  const named = new Set(
    [...others].flatMap((other) => plainKeysOf(other, read)).map((key) => keyIn(history, key)),
  )
  const digests = new Set((read.blobs.get(id) ?? []).map(({ sha256 }) => sha256))
  const unnamed = [...digests].filter((sha256) => !named.has(keyIn(history, blobKey(sha256))))
  const doomed = inventory.all.filter(({ key, name }) => digests.has(name) && !named.has(key))
  const deltas = read.deltasObjects.filter(({ name }) => name === id)
  return {
    id,
    rows: history.history.filter((row) => row.id === id),
    history: withOnlySuffixes(withOnly(history, others), named),
    // The manifest goes last. After a failure, the next purge finds the rest of the build by it.
    keys: [...[...doomed, ...deltas].map(({ key }) => key), ...own],
    sharedBlobs: digests.size - unnamed.length,
  }
}

/** Also finds a build that an earlier purge deleted only partly. */
function findPurgeable(
  history: readonly HistoryRow[],
  {
    manifests,
    given,
    place,
  }: {
    readonly manifests: readonly { readonly name: string }[]
    readonly given: string
    readonly place: string
  },
): string {
  const ids = [...history.map((row) => row.id), ...manifests.map(({ name }) => name)]
  const id = findGeneration(ids, given, place)
  if (id !== history[0]?.id) return id
  const problem = `${place}: build ${shortId(id)} is current. Roll back or publish another build, then purge it.`
  throw new OperatorError('SD_OPTION_INVALID', problem)
}
