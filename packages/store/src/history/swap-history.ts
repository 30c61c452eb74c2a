import { randomUUID } from 'node:crypto'
import { OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { StoreBackend, Stoppable } from '../backend.ts'
import { currentKey, type History, layoutVersion, stringifyHistory } from '../layout.ts'
import { readDocument, readHistory } from '../read-documents.ts'

/** The history and its version. */
export interface Head {
  /** The history. It has no rows before the first publish. */
  readonly history: History
  /** The version for the condition of a swap, or `null` if the object does not exist. */
  readonly version: string | null
}

export interface SwapOptions {
  /** Whether only one job publishes. The endpoint then need not support conditional writes. */
  readonly isSinglePublisher: boolean
  readonly signal?: AbortSignal | undefined
}

const nothing: Head = { history: { version: layoutVersion, history: [] }, version: null }

/** Reads the history. */
export async function readHead(store: StoreBackend, options?: Stoppable): Promise<Head> {
  const read = await readHistory(store, undefined, options)
  return read === undefined || read === 'unchanged' ? nothing : read
}

/**
 * Replaces the history that was read.
 *
 * @returns `undefined` if another process changed it.
 * @throws OperatorError if the outcome of the write is unknown.
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
  // If the response to the first attempt was lost, the retry conflicts with this process's own write.
  const found = await readDocument(store, currentKey, { signal }).catch((error: unknown) => {
    signal?.throwIfAborted()
    throw unknownSwap(failure ?? error, error)
  })
  if (typeof found === 'object' && found.text === text) return { history: next, version: found.version }
  const version = typeof found === 'object' ? found.version : null
  if (failure !== undefined && version === head.version) throw failure
  return undefined
}

/** Describes a swap with an unknown outcome. `last` is the reason why the history cannot be read. */
function unknownSwap(failure: unknown, last: unknown): OperatorError {
  const problem = `${reasonOf(failure)}. The store does not answer whether this write succeeded. When it answers again, list its builds before you retry.`
  return new OperatorError('SD_STORE_UNAVAILABLE', problem, { cause: last })
}
