import { randomUUID } from 'node:crypto'
import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import { type Head, readHead, swapHistory, type SwapOptions } from '../history/swap-history.ts'
import { deletionKey, type History, stringifyHistory } from '../layout.ts'
import type { ObservedStore } from '../observe-store.ts'
import { readDeletedKeys } from '../read-documents.ts'

/*
 * A suspended process or a slow server may carry out a deletion at any later time, and nothing can stop it. Therefore a
 * process writes the keys to a document, and the swap that removes the last reference to them also names this document
 * (`deletions`). A publish that read the earlier history fails its own swap. A later one uses none of these keys, until
 * the process removes the document because no request of its own can still run (docs/decisions/024-stores.md).
 */

/** The number of deletions in the history from which they are merged. */
const mostDeletions = 8

/** The next history and the objects that it does not name. */
export interface ChangePlan {
  readonly history: History
  /** The keys to delete, in order. */
  readonly keys: readonly string[]
}

export interface DeleteOptions extends SwapOptions {
  /** The number of requests that run at once. */
  readonly concurrency: number
}

/** The result of a deletion. */
export interface Deletion {
  readonly deleted: ReadonlySet<string>
  /** The reason why some objects remain. A later prune finds them. */
  readonly failure?: unknown
}

/**
 * Swaps the history, then deletes objects that it does not name. Writes nothing if the history stays the same and there
 * is nothing to delete.
 *
 * @returns `undefined` if another process changed the history; nothing was done in this case. Deletion failures are
 * returned instead of thrown.
 * @throws OperatorError if the swap fails.
 */
export async function swapAndDelete(
  store: ObservedStore,
  { head, history: next, keys }: ChangePlan & { readonly head: Head },
  options: DeleteOptions,
): Promise<Deletion | undefined> {
  if (keys.length === 0) {
    const isSame = stringifyHistory(next) === stringifyHistory(head.history)
    const isDone = isSame || (await swapHistory(store, head, next, options)) !== undefined
    return isDone ? { deleted: new Set() } : undefined
  }
  const uuid = await writeDeletion(store, keys, options)
  const deletions = [...(await mergeDeletions(store, next, options)), uuid]
  const swapped = await swapHistory(store, head, { ...next, deletions }, options)
  // After a conflict, the document stays until the next prune: if the response to the swap was lost, the history has it.
  return swapped && (await deleteObjects(store, { head: swapped, uuid, keys }, options))
}

async function writeDeletion(
  store: ObservedStore,
  keys: Iterable<string>,
  { signal }: DeleteOptions,
): Promise<string> {
  const uuid = randomUUID()
  await store.put(deletionKey(uuid), Buffer.from(JSON.stringify([...keys])), { signal })
  return uuid
}

/** Returns the deletions of a history. If processes were killed often, one deletion gets the keys of all. */
async function mergeDeletions(
  store: ObservedStore,
  history: History,
  options: DeleteOptions,
): Promise<readonly string[]> {
  const { deletions = [] } = history
  if (deletions.length < mostDeletions) return deletions
  return [await writeDeletion(store, await readDeletedKeys(store, history, options), options)]
}

async function deleteObjects(
  store: ObservedStore,
  { head, uuid, keys }: Pick<ChangePlan, 'keys'> & { readonly head: Head; readonly uuid: string },
  options: DeleteOptions,
): Promise<Deletion> {
  const { concurrency, signal } = options
  const deleted = new Set<string>()
  let isSettled = true
  let failure: unknown
  const keysUntilStop = function* (): Generator<string> {
    for (const key of keys) {
      if (signal?.aborted === true) return
      yield key
    }
  }
  try {
    await forEachConcurrently(keysUntilStop(), concurrency, async (key) => {
      if ((await store.delete(key)) === 'unsettled') isSettled = false
      deleted.add(key)
    })
    if (deleted.size < keys.length) failure = new Error('a signal stopped the deletion')
    if (isSettled) await endDeletion(store, { head, uuid }, options)
  } catch (error) {
    // A failed request may still run, so its key stays in the history.
    failure = error
  }
  return { deleted, ...(failure !== undefined && { failure }) }
}

/** Removes a deletion from the history. Its keys can be used again. */
async function endDeletion(
  store: ObservedStore,
  { head, uuid }: { readonly head: Head; readonly uuid: string },
  { isSinglePublisher, lookFor }: SwapOptions,
): Promise<void> {
  for (let found = head; found.history.deletions?.includes(uuid) === true; found = await readHead(store)) {
    const deletions = found.history.deletions.filter((other) => other !== uuid)
    const next = { ...found.history, deletions }
    if ((await swapHistory(store, found, next, { isSinglePublisher, lookFor })) !== undefined) break
  }
  await store.delete(deletionKey(uuid))
}
