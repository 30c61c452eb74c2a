import { OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { StoreBackend } from '../backend.ts'
import {
  type ChangeOptions,
  mostTries,
  resolveChangeOptions,
  type ResolvedChangeOptions,
} from '../change-options.ts'
import { deltasKey } from '../deltas/deltas-document.ts'
import { readDeltaBlobs } from '../deltas/read-delta-blobs.ts'
import { expectConditions } from '../expect-conditions.ts'
import { findGeneration } from '../find-generation.ts'
import { withOnly } from '../history/next-history.ts'
import { readHead, readQuietHead } from '../history/swap-history.ts'
import { blobKey, generationKey, type History, type HistoryRow, type NamedBlob } from '../layout.ts'
import { listBlobs, type ListedBlobs } from '../list-blobs.ts'
import { listGenerationObjects } from '../list-generation-objects.ts'
import { observeStore, type ObservedStore } from '../observe-store.ts'
import { readGenerations } from '../read-generations.ts'
import { type Pruned, prunedOf } from './pruned.ts'
import { swapAndDelete } from './swap-and-delete.ts'

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
  const { isDryRun, signal } = resolved
  const observed = observeStore(store)
  await expectConditions(observed, resolved)
  for (let tries = 1; tries <= mostTries; tries += 1) {
    signal?.throwIfAborted()
    const head = isDryRun ? await readHead(observed, resolved) : await readQuietHead(observed, resolved)
    const id = await findPurgeable(observed, { history: head.history, given }, resolved)
    const listed = await listBlobs(observed, resolved)
    const { keys, next, sharedBlobs } = await planPurge(
      observed,
      { history: head.history, id, listed },
      resolved,
    )
    const rows = head.history.history.filter((row) => row.id === id)
    const summary = { id, isDryRun, rows, sharedBlobs, ...prunedOf(keys, listed) }
    if (isDryRun) return { ...summary, requests: observed.requests }
    const deletion = await swapAndDelete(observed, { head, next, keys }, resolved)
    if (deletion === undefined) continue
    if (!('failure' in deletion)) return { ...summary, requests: observed.requests }
    const problem = `${store.place}: build ${id} is out of the history, but not all of it could be deleted (${reasonOf(deletion.failure)}); purge it again`
    throw new OperatorError('SD_STORE_UNAVAILABLE', problem, { cause: deletion.failure })
  }
  throw new OperatorError(
    'SD_STORE_CONFLICT',
    `${store.place}: others change it again and again; try once more`,
  )
}

/** Also one that a purge before could not delete as a whole. */
async function findPurgeable(
  store: ObservedStore,
  { history: { history }, given }: { readonly history: History; readonly given: string },
  options: ResolvedChangeOptions,
): Promise<string> {
  const objects = await listGenerationObjects(store, options)
  const id = findGeneration([...history.map((row) => row.id), ...objects.keys()], given, store.place)
  if (id !== history[0]?.id) return id
  const problem = `${store.place}: build ${id} is current; roll back, or publish another build, then purge it`
  throw new OperatorError('SD_OPTION_INVALID', problem)
}

interface PurgePlan {
  readonly next: History
  /** The generation last: what is left after a failure is found by it. */
  readonly keys: readonly string[]
  readonly sharedBlobs: number
}

async function planPurge(
  store: ObservedStore,
  { history, id, listed }: { readonly history: History; readonly id: string; readonly listed: ListedBlobs },
  options: ResolvedChangeOptions,
): Promise<PurgePlan> {
  const others = new Set(history.history.map((row) => row.id).filter((other) => other !== id))
  const { generations, unreadable } = await readGenerations(store, [id, ...others], options)
  const deltas = await readDeltaBlobs(store, [id, ...others], options)
  for (const [other, error] of [...unreadable, ...deltas.unreadable]) if (other !== id) throw error
  const namedBy = (build: string): readonly NamedBlob[] => [
    ...(generations.get(build)?.blobs ?? []),
    ...(deltas.blobs.get(build) ?? []),
  ]
  const named = new Set([...others].flatMap(namedBy).map(({ sha256 }) => sha256))
  const blobs = namedBy(id)
  const own = blobs.filter(({ sha256 }) => !named.has(sha256))
  const keys = own.filter(({ sha256 }) => listed.has(sha256)).map(({ sha256 }) => blobKey(sha256))
  return {
    next: withOnly(history, others),
    keys: [...keys, deltasKey(id), generationKey(id)],
    sharedBlobs: blobs.length - own.length,
  }
}
