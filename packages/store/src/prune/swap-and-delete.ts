import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import { isoSeconds } from '../history/next-history.ts'
import {
  type Head,
  leaseMilliseconds,
  readHead,
  swapHistory,
  type SwapOptions,
} from '../history/swap-history.ts'
import type { History } from '../layout.ts'
import type { ObservedStore } from '../observe-store.ts'

/*
 * A process announces its deletions in the history (`deletesUntil`). The same swap removes the last row that names the
 * objects. A publish that read the earlier history fails its own swap; a later one waits. Therefore no publish relies
 * on an object that is about to be deleted (docs/decisions/024-stores.md).
 */

/** The time in which a process starts deletions, in milliseconds. */
const workLength = 30_000
/** The time after which retries stop, in milliseconds. It ends before other processes continue. */
const tryLength = 50_000

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

/** The right to delete objects for a limited time. */
interface Lease {
  /** The value in the history. */
  readonly deletesUntil: string
  /** The time to renew the lease, by `performance.now()`. */
  readonly end: number
  /** Aborts running requests when the lease ends. */
  readonly signal: AbortSignal
}

interface HeldHead {
  readonly head: Head
  readonly lease: Lease
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
  { head, history: next, keys }: ChangePlan & Pick<HeldHead, 'head'>,
  options: DeleteOptions,
): Promise<Deletion | undefined> {
  if (keys.length === 0) {
    const isSame =
      next.history.length === head.history.history.length && next.history[0] === head.history.history[0]
    const isDone = isSame || (await swapHistory(store, head, withDeletion(next), options)) !== undefined
    return isDone ? { deleted: new Set() } : undefined
  }
  const lease = beginLease(store)
  const swapped = await swapHistory(store, head, withDeletion(next, lease), options)
  return swapped && (await deleteObjects(store, { head: swapped, lease, keys }, options))
}

async function deleteObjects(
  store: ObservedStore,
  { keys, ...first }: HeldHead & Pick<ChangePlan, 'keys'>,
  options: DeleteOptions,
): Promise<Deletion> {
  const { concurrency, signal } = options
  const deleted = new Set<string>()
  const isStopped = (): boolean => signal?.aborted === true
  let held: HeldHead | undefined = first
  try {
    while (held !== undefined && deleted.size < keys.length && !isStopped()) {
      const { lease } = held
      const left = whileHeld(keys.slice(deleted.size), lease, isStopped)
      await forEachConcurrently(left, concurrency, async (key) => {
        await store.delete(key, { signal: lease.signal })
        deleted.add(key)
      })
      if (deleted.size < keys.length) held = await renewLease(store, held, options)
    }
    if (held !== undefined) await changeLease(store, held, undefined, options)
    return deleted.size < keys.length
      ? {
          deleted,
          failure: new Error(
            isStopped() ? 'a signal stopped the deletion' : 'another process took the lease',
          ),
        }
      : { deleted }
  } catch (failure) {
    // Ends the lease early. If requests may still run, other processes must wait until it expires.
    if (held?.lease.signal.aborted === false)
      await changeLease(store, held, undefined, options).catch(() => undefined)
    return { deleted, failure }
  }
}

function* whileHeld(keys: readonly string[], { end }: Lease, isStopped: () => boolean): Generator<string> {
  for (const key of keys) {
    if (performance.now() > end || isStopped()) return
    yield key
  }
}

function beginLease(store: ObservedStore): Lease {
  return {
    deletesUntil: isoSeconds(store.now() + leaseMilliseconds),
    end: performance.now() + workLength,
    signal: AbortSignal.timeout(tryLength),
  }
}

async function renewLease(
  store: ObservedStore,
  held: HeldHead,
  options: SwapOptions,
): Promise<HeldHead | undefined> {
  const lease = beginLease(store)
  const head = await changeLease(store, held, lease, options)
  return head && { head, lease }
}

/** Renews or ends the lease in the history. Returns `undefined` if this process does not hold it any more. */
async function changeLease(
  store: ObservedStore,
  { head, lease }: HeldHead,
  next: Lease | undefined,
  { isSinglePublisher }: SwapOptions,
): Promise<Head | undefined> {
  // A rollback does not wait and keeps the lease, so the swap can fail although the lease is valid.
  for (let found = head; found.history.deletesUntil === lease.deletesUntil; found = await readHead(store)) {
    const swapped = await swapHistory(store, found, withDeletion(found.history, next), { isSinglePublisher })
    if (swapped !== undefined) return swapped
  }
  return undefined
}

function withDeletion({ version, history }: History, lease?: Lease): History {
  return { version, ...(lease && { deletesUntil: lease.deletesUntil }), history }
}
