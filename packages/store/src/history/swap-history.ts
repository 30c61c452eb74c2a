import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { buffer } from 'node:stream/consumers'
import type { StoreBackend } from '../backend.ts'
import { currentKey, type History, layoutVersion, stringifyHistory } from '../layout.ts'
import type { ObservedStore } from '../observe-store.ts'
import { readHistory } from '../read-documents.ts'

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
export async function readHead(store: StoreBackend): Promise<Head> {
  const read = await readHistory(store)
  return read === undefined || read === 'unchanged' ? nothing : read
}

/** Milliseconds for which others wait for somebody who was killed while deleting. */
export const leaseLength = 60_000

/** Milliseconds between looks at whether somebody still deletes. */
const [shortestWait, longestWait] = [50, 1000]

/**
 * Reads the history once nobody deletes objects any more, so that all that is listed from then on stays until the history
 * is another one. Somebody who was killed is waited for until the time that they gave, and no longer than that can be: their
 * clock may have been wrong.
 */
export async function readQuietHead(
  store: ObservedStore,
  signal?: AbortSignal,
  longest: number = leaseLength,
): Promise<Head> {
  let seen: { readonly until: string; readonly since: number } | undefined
  for (let wait = shortestWait; ; wait = Math.min(2 * wait, longestWait)) {
    const head = await readHead(store)
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
 */
export async function swapHistory(
  store: StoreBackend,
  head: Head,
  next: History,
  { isSinglePublisher, signal }: SwapOptions,
): Promise<Head | undefined> {
  const text = Buffer.from(stringifyHistory(next, randomUUID()))
  const condition = isSinglePublisher ? {} : { replaces: head.version }
  const written = await store.put(currentKey, text, { ...condition, ...(signal && { signal }) })
  if (written !== 'conflict') return { history: next, version: written.version }
  // An answer that was lost on the way, and a second try: then the other writer was this one.
  const found = await store.read(currentKey)
  if (found === undefined || found === 'unchanged') return undefined
  return text.equals(await buffer(found.body)) ? { history: next, version: found.version } : undefined
}
