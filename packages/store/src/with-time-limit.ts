import { setMaxListeners } from 'node:events'
import { type FailedStep, storeUnavailable } from './store-error.ts'

/** How long something may take. */
export interface TimeLimit {
  readonly milliseconds: number
  readonly signal?: AbortSignal | undefined
}

/** Milliseconds that so many bytes may take: what is slower than 16 KB a second after a minute hangs. */
export function timeLimitFor(bytes: number): number {
  return 60_000 + bytes / 16
}

/**
 * Does something with a store that ends in time, whatever the store waits for: an endpoint that sends a byte now and then,
 * or a share that hangs, would never end.
 *
 * @throws OperatorError `SD_STORE_UNAVAILABLE`, or the reason of the signal.
 */
export async function withTimeLimit<T>(
  step: FailedStep,
  { milliseconds, signal }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  // Not `AbortSignal.any`: a server's signal lives as long as it does, and would hold all that ever hung on it.
  const end = new AbortController()
  const stop = (): void => end.abort(signal?.reason)
  if (signal !== undefined) setMaxListeners(0, signal)
  signal?.addEventListener('abort', stop)
  const problem = new Error(`it did not end within ${Math.round(milliseconds / 1000)} seconds`)
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
