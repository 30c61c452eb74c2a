import type { Encode } from '../codecs/encode.ts'
import { encodingCost, encodingMemory } from '../codecs/encoding-cost.ts'
import type { EncodeTask } from './start-encode-thread.ts'

/** How much may run at once. */
export interface EncodeLimits {
  /** Calls of the encoder, and what fills up. */
  readonly tasks: number
  /** Of the codecs, in bytes; what needs more runs alone. */
  readonly memory: number
}

/** A queue in front of the codecs. */
export interface EncodeQueue {
  readonly encode: Encode
  /**
   * Runs what `next` begins wherever nothing that waits can be encoded; ends when `next` begins nothing more and all
   * has ended. For what takes little time and memory.
   */
  fillUp(next: () => Promise<void> | undefined): Promise<void>
  /** What waits to be encoded, and what comes, fails with an `AbandonedError`. */
  readonly abandon: () => void
}

/** The reason of a failure that another failure led to. */
export class AbandonedError extends Error {
  override readonly name = 'AbandonedError'
}

interface Waiting {
  readonly task: EncodeTask
  readonly cost: number
  readonly memory: number
  /** Of the work that passed it because it fits where this does not. */
  passedBy: number
  readonly resolve: (encoded: Uint8Array) => void
  readonly reject: (reason: unknown) => void
}

interface Filler {
  readonly next: () => Promise<void> | undefined
  readonly end: (failures: readonly unknown[]) => void
  readonly failures: unknown[]
  running: number
}

/**
 * Puts an encoder behind a queue out of which the largest work that fits comes first, so that no core is left
 * with a large file at the end while the others idle.
 */
export function createEncodeQueue(
  encodeOne: (task: EncodeTask) => Promise<Uint8Array>,
  limits: EncodeLimits,
): EncodeQueue {
  const waiting: Waiting[] = []
  let filler: Filler | undefined
  let running = 0
  let memoryHeld = 0
  let isAbandoned = false

  const takeNext = (): Waiting | undefined => {
    const first = waiting.findIndex(({ memory }) => memoryHeld === 0 || memoryHeld + memory <= limits.memory)
    const passed = waiting.slice(0, Math.max(first, 0))
    // Nothing is held back for ever: then what runs ends first.
    if (first === -1 || passed.some(({ passedBy, cost }) => passedBy >= cost)) return undefined
    const [next] = waiting.splice(first, 1)
    for (const one of passed) one.passedBy += next?.cost ?? 0
    return next
  }

  const hold = (memory: number, work: Promise<void>): void => {
    running += 1
    memoryHeld += memory
    void work.finally(() => {
      running -= 1
      memoryHeld -= memory
      startNext()
    })
  }

  const startNext = (): void => {
    while (running < limits.tasks) {
      const next = takeNext()
      if (next !== undefined) hold(next.memory, encodeOne(next.task).then(next.resolve, next.reject))
      else if (!startFiller()) return
    }
  }

  /** Whether there was something to begin. */
  const startFiller = (): boolean => {
    if (filler === undefined) return false
    const current = filler
    const work = current.failures.length === 0 ? current.next() : undefined
    if (work !== undefined) {
      current.running += 1
      const ended = work.catch((error: unknown) => void current.failures.push(error))
      hold(
        0,
        ended.finally(() => void (current.running -= 1)),
      )
      return true
    }
    if (current.running === 0) {
      filler = undefined
      current.end(current.failures)
    }
    return false
  }

  return {
    encode: async (bytes, coding) =>
      await new Promise<Uint8Array>((resolve, reject) => {
        if (isAbandoned) {
          reject(new AbandonedError('another file failed'))
          return
        }
        const cost = encodingCost(coding, bytes.length)
        const memory = encodingMemory(coding, bytes.length)
        const place = waiting.findIndex((other) => other.cost < cost)
        const one = { task: { bytes, coding }, cost, memory, passedBy: 0, resolve, reject }
        waiting.splice(place === -1 ? waiting.length : place, 0, one)
        startNext()
      }),
    fillUp: async (next) =>
      await new Promise<void>((resolve, reject) => {
        const end = (failures: readonly unknown[]): void => {
          if (failures.length > 0) reject(failures[0])
          else resolve()
        }
        filler = { next, end, failures: [], running: 0 }
        startNext()
      }),
    abandon: () => {
      isAbandoned = true
      for (const { reject } of waiting.splice(0)) reject(new AbandonedError('another file failed'))
    },
  }
}
