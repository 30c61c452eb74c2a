import { setMaxListeners } from 'node:events'
import { type FailedStep, storeUnavailable } from './store-error.ts'

export interface TimeLimit {
  readonly milliseconds: number
  readonly signal?: AbortSignal | undefined
}

/** The longest time of a timer in milliseconds. */
const longestTimer = 2 ** 31 - 1

/** Returns the time limit for a transfer in milliseconds: one minute plus 1 ms for every 16 bytes. */
export function timeLimitFor(bytes: number): number {
  return Math.min(60_000 + bytes / 16, longestTimer)
}

/**
 * Runs an operation of a store with a time limit. Without it, a very slow endpoint or a hanging network share would
 * block forever.
 *
 * @throws OperatorError `SD_STORE_UNAVAILABLE`, or the reason of the signal.
 */
export async function withTimeLimit<T>(
  step: FailedStep,
  { milliseconds, signal }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  // `AbortSignal.any` would keep each operation in memory for the life of a server's signal.
  const end = new AbortController()
  const stop = (): void => end.abort(signal?.reason)
  if (signal !== undefined) setMaxListeners(0, signal)
  signal?.addEventListener('abort', stop)
  const problem = new Error(`no result within ${Math.round(milliseconds / 1000)} seconds`)
  const timer = setTimeout(() => end.abort(storeUnavailable(step, problem)), milliseconds)
  try {
    return await Promise.race([work(end.signal), rejectedBy(end.signal)])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

async function rejectedBy(signal: AbortSignal): Promise<never> {
  return await new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
