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
 * Whoever deletes says so in the history (`deletesUntil`), in the same swap that takes away the last row which named the
 * objects. A publish that read the history before fails its own swap; one that reads it later waits. So nobody relies on
 * an object that is about to go (docs/decisions/024-stores.md).
 */

/** Milliseconds for which deletions are begun. */
const workLength = 30_000
/** Milliseconds after which those that are tried again and again are given up, before others go on. */
const tryLength = 50_000

/** What a history becomes, and which objects no row of it names. */
export interface ChangePlan {
  readonly history: History
  /** In the order of their deletion. */
  readonly keys: readonly string[]
}

/** How objects are deleted. */
export interface DeleteOptions extends SwapOptions {
  /** How many requests run at once. */
  readonly concurrency: number
}

/** What became of a deletion. */
export interface Deletion {
  readonly deleted: ReadonlySet<string>
  /** Why others are there still: a later prune finds them. */
  readonly failure?: unknown
}

/** The right to delete for some time. */
interface Lease {
  /** What the history says meanwhile. */
  readonly deletesUntil: string
  /** When to ask for more, by `performance.now()`. */
  readonly end: number
  /** Ends what was begun. */
  readonly signal: AbortSignal
}

/** A history with a lease in it. */
interface HeldHead {
  readonly head: Head
  readonly lease: Lease
}

/**
 * Swaps a history, then deletes what it names no more. One that would stay the same, with nothing to delete, is left
 * alone.
 *
 * @returns `undefined` where the history has changed meanwhile: then nothing was done.
 * @throws what the swap does; what a deletion does is told.
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
    return deleted.size < keys.length ? { deleted, failure: new Error('it was stopped') } : { deleted }
  } catch (failure) {
    // Without this, others wait until its time is over: as they must where what was begun may be done still.
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

/** A lease from now on, which the next swap is to write. */
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

/** Writes another lease, or none, into the history; `undefined` where this process does not hold it any more. */
async function changeLease(
  store: ObservedStore,
  { head, lease }: HeldHead,
  next: Lease | undefined,
  { isSinglePublisher }: SwapOptions,
): Promise<Head | undefined> {
  // A rollback does not wait, and leaves the lease as it is.
  for (let found = head; found.history.deletesUntil === lease.deletesUntil; found = await readHead(store)) {
    const swapped = await swapHistory(store, found, withDeletion(found.history, next), { isSinglePublisher })
    if (swapped !== undefined) return swapped
  }
  return undefined
}

function withDeletion({ version, history }: History, lease?: Lease): History {
  return { version, ...(lease && { deletesUntil: lease.deletesUntil }), history }
}
