import { startThread, type Thread } from '@serve-dist/foundation/concurrency/start-thread'

/** A password from a request, and the hash that it may have. */
export interface Comparison {
  readonly password: string
  readonly hash: string
}

/** Threads that compare passwords with bcrypt hashes. They start at the first comparison. */
export interface PasswordThreads {
  /**
   * @param isWanted - returns whether a client still waits for the result.
   * @returns the result, or `undefined` if too many comparisons wait.
   */
  readonly compare: (comparison: Comparison, isWanted: () => boolean) => Promise<boolean | undefined>
  readonly close: () => Promise<void>
}

interface WaitingComparison {
  readonly isWanted: () => boolean
  /** Begins the comparison, or gives it up. */
  readonly settle: (isSkipped: boolean) => void
}

const mostThreads = 2
const mostWaiting = 64

/** The compiled worker. The path works from `src` and from `dist/chunks`. */
const program = new URL('../../dist/access/compare-password-worker.js', import.meta.url)

export function createPasswordThreads(): PasswordThreads {
  const all = new Set<Thread<Comparison, boolean>>()
  const idle: Thread<Comparison, boolean>[] = []
  let waiting: WaitingComparison[] = []
  let running = 0

  function skipUnwanted(): void {
    for (const each of waiting) if (!each.isWanted()) each.settle(true)
    waiting = waiting.filter(({ isWanted }) => isWanted())
  }

  async function run(comparison: Comparison): Promise<boolean> {
    running += 1
    const thread = idle.pop() ?? startThread<Comparison, boolean>(program)
    all.add(thread)
    try {
      const isEqual = await thread.ask(comparison)
      idle.push(thread)
      return isEqual
    } catch (error) {
      all.delete(thread)
      throw error
    } finally {
      running -= 1
      skipUnwanted()
      waiting.shift()?.settle(false)
    }
  }

  return {
    async compare(comparison, isWanted) {
      if (running < mostThreads) return await run(comparison)
      if (waiting.length >= mostWaiting) skipUnwanted()
      if (waiting.length >= mostWaiting) return undefined
      const isSkipped = await new Promise<boolean>((settle) => {
        waiting.push({ isWanted, settle })
      })
      return isSkipped ? false : await run(comparison)
    },
    async close() {
      await Promise.all(Array.from(all, (thread) => thread.end()))
    },
  }
}
