import { setTimeout } from 'node:timers/promises'
import { s3FailureOf } from './s3-failure.ts'

/** The limits of retries: attempts and milliseconds. S3 lifts its rate limits within seconds. */
const tries = 7
const longest = 30_000

/** The delays between the attempts of one operation. */
export interface RetryDelay {
  /**
   * Waits until the operation may be tried again.
   *
   * @throws the error, if a retry would not help.
   */
  wait(error: unknown, signal: AbortSignal | undefined): Promise<void>
  /** Resets the limits after progress. */
  renew(): void
}

/** Creates an exponential delay with jitter that starts at 100 ms. */
export function createRetryDelay(): RetryDelay {
  let began = performance.now()
  let failures = 0
  return {
    async wait(error, signal) {
      signal?.throwIfAborted()
      failures += 1
      const tooLate = failures >= tries || performance.now() - began > longest
      if (tooLate || !s3FailureOf(error).isPassing) throw error
      await setTimeout(100 * 2 ** (failures - 1) * (0.5 + Math.random() / 2), undefined, { signal })
    },
    renew() {
      failures = 0
      began = performance.now()
    },
  }
}

/** Retries an operation until it succeeds or a retry would not help. */
export async function retry<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const patience = createRetryDelay()
  for (;;) {
    try {
      return await work()
    } catch (error) {
      await patience.wait(error, signal)
    }
  }
}
