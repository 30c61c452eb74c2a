import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { StoreBackend, Stoppable } from '../backend.ts'
import { currentKey, type History, layoutVersion, stringifyHistory } from '../layout.ts'
import type { ObservedStore } from '../observe-store.ts'
import { readDocument, readHistory } from '../read-documents.ts'

/** The history as it was read. */
export interface Head {
  /** Without rows where nothing was published yet. */
  readonly history: History
  /** For the condition of a swap; `null` where there is none. */
  readonly version: string | null
}

/** How histories are swapped. */
export interface SwapOptions {
  /** Whether nobody else publishes, so that the endpoint need not keep conditions. */
  readonly isSinglePublisher: boolean
  readonly signal?: AbortSignal | undefined
}

const nothing: Head = { history: { version: layoutVersion, history: [] }, version: null }

/** Reads the history, as it is. */
export async function readHead(store: StoreBackend, options?: Stoppable): Promise<Head> {
  const read = await readHistory(store, undefined, options)
  return read === undefined || read === 'unchanged' ? nothing : read
}

/** Milliseconds for which others wait for somebody who was killed while deleting. */
export const leaseMilliseconds = 60_000

/** Milliseconds between looks at whether somebody still deletes. */
const [shortestWait, longestWait] = [50, 1000]

/**
 * Reads the history once nobody deletes objects any more, so that all that is listed from then on stays until the history
 * is another one. Somebody who was killed is waited for until the time that they gave, and no longer than that can be: their
 * clock may have been wrong.
 */
export async function readHeadAfterDeletion(
  store: ObservedStore,
  { signal }: Stoppable = {},
  longest: number = leaseMilliseconds,
): Promise<Head> {
  let seen: { readonly until: string; readonly since: number } | undefined
  for (let wait = shortestWait; ; wait = Math.min(2 * wait, longestWait)) {
    const head = await readHead(store, { signal })
    const { deletesUntil } = head.history
    if (deletesUntil === undefined || Date.parse(deletesUntil) < store.now()) return head
    const now = performance.now()
    if (seen?.until !== deletesUntil) seen = { until: deletesUntil, since: now }
    if (now - seen.since > longest) return head
    await setTimeout(wait, undefined, { signal })
  }
}

/**
 * Puts a history in the place of the one that was read.
 *
 * @returns `undefined` where that has changed meanwhile.
 * @throws OperatorError that says so where nobody knows whether it was written.
 */
export async function swapHistory(
  store: StoreBackend,
  head: Head,
  next: History,
  { isSinglePublisher, signal }: SwapOptions,
): Promise<Head | undefined> {
  const text = stringifyHistory(next, randomUUID())
  const condition = isSinglePublisher ? {} : { replaces: head.version }
  let failure: unknown
  const written = await store
    .put(currentKey, Buffer.from(text), { ...condition, signal })
    .catch((error: unknown) => {
      signal?.throwIfAborted()
      failure = error
      return 'failed' as const
    })
  if (typeof written === 'object') return { history: next, version: written.version }
  // An answer may have got lost on the way: then what is there is this one's, though a second try of it was refused.
  const found = await readDocument(store, currentKey, { signal }).catch((error: unknown) => {
    signal?.throwIfAborted()
    throw unknownSwap(failure ?? error, error)
  })
  if (typeof found === 'object' && found.text === text) return { history: next, version: found.version }
  const version = typeof found === 'object' ? found.version : null
  if (failure !== undefined && version === head.version) throw failure
  return undefined
}

/** @param last - why it cannot be read. */
function unknownSwap(failure: unknown, last: unknown): OperatorError {
  const problem = `${reasonOf(failure)}; nor can it be read whether that was written: once the store answers, look at its generations before you try again`
  return new OperatorError('SD_STORE_UNAVAILABLE', problem, { cause: last })
}
