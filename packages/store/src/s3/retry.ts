import { setTimeout } from 'node:timers/promises'
import { s3FailureOf } from './s3-failure.ts'

/** How often something is tried, and how long that may take: S3's own limits of a prefix pass within seconds. */
const tries = 7
const longest = 30_000

/** Waits between the tries of one piece of work. */
export interface RetryDelay {
  /**
   * Ends when the work may be tried again.
   *
   * @throws the error, where trying again would not help.
   */
  wait(error: unknown, signal: AbortSignal | undefined): Promise<void>
  /** The work went on. */
  renew(): void
}

/** Waits twice as long after each failure, from a tenth of a second on, half of it by chance. */
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

/** Does something until it succeeds, or until trying again does not help. */
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
