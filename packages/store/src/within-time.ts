import { type FailedStep, storeUnavailable } from './store-error.ts'

/** How long something may take. */
export interface TimeLimit {
  readonly milliseconds: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Does something with a store that ends in time, whatever the store waits for: an endpoint that sends a byte now and then,
 * or a share that hangs, would never end.
 *
 * @throws OperatorError `SD_STORE_UNAVAILABLE`, or the reason of the signal.
 */
export async function withinTime<T>(
  step: FailedStep,
  { milliseconds, signal }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const late = new AbortController()
  const either = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal])
  const problem = new Error(`it did not end within ${Math.round(milliseconds / 1000)} seconds`)
  const timer = setTimeout(() => late.abort(storeUnavailable(step, problem)), milliseconds)
  try {
    return await Promise.race([work(either), rejectedBy(either)])
  } finally {
    clearTimeout(timer)
  }
}

async function rejectedBy(signal: AbortSignal): Promise<never> {
  return await new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
