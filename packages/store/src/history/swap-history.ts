import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { OperatorError, shellWord } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { StoreBackend, Stoppable } from '../backend.ts'
import { currentKey, type History, layoutVersion, stringifyHistory } from '../layout.ts'
import { readDocument, readHistory } from '../read-documents.ts'
import { UnansweredError } from '../store-error.ts'

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
  /** The time in milliseconds to look for the outcome of a write without an answer. */
  readonly lookFor: number
  readonly signal?: AbortSignal | undefined
}

const nothing: Head = { history: { version: layoutVersion, history: [] }, version: null }

/** Reads the history. */
export async function readHead(store: StoreBackend, options?: Stoppable): Promise<Head> {
  const read = await readHistory(store, undefined, options)
  return read === undefined || read === 'unchanged' ? nothing : read
}

/** The time between two looks for the outcome of a write, in milliseconds. */
const lookInterval = 1000

/**
 * Replaces the history that was read.
 *
 * @returns `undefined` if another process changed it.
 * @throws OperatorError if the swap failed, or if its outcome is open.
 */
export async function swapHistory(
  store: StoreBackend,
  head: Head,
  next: History,
  { isSinglePublisher, lookFor, signal }: SwapOptions,
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
  // After a conflict as well: if the response to the first attempt was lost, its retry conflicts with it.
  for (const began = performance.now(); ; await setTimeout(lookInterval, undefined, { signal })) {
    const found = await readDocument(store, currentKey, { signal }).catch((error: unknown) => {
      signal?.throwIfAborted()
      throw openOutcome(store, failure ?? error, error)
    })
    if (typeof found === 'object' && found.text === text) return { history: next, version: found.version }
    const version = typeof found === 'object' ? found.version : null
    if (failure === undefined || version !== head.version) return undefined
    if (!(failure instanceof UnansweredError)) throw failure
    if (performance.now() - began > lookFor) throw openOutcome(store, failure, failure)
  }
}

/** Describes a swap whose outcome is open. */
function openOutcome(store: StoreBackend, failure: unknown, cause: unknown): OperatorError {
  const problem = `${reasonOf(failure)}. This write had no answer and can still succeed, so the current build may change later. Look at it before you try again: serve-dist generations --store ${shellWord(store.place)}`
  return new OperatorError('SD_STORE_UNAVAILABLE', problem, { cause })
}
