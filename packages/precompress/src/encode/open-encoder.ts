import type { BatchAnswer, FileBatch } from './compress-batch.ts'
import { createWorkQueue } from './create-work-queue.ts'
import { encodeFile, type EncodeTask, type EncodeThread, type TimedResult } from './start-encode-thread.ts'
import type { Encode } from '../codecs/encode.ts'
import { encodingCost, encodingMemory } from '../codecs/encoding-cost.ts'
import { isWasm } from '../codecs/zstd-encoder.ts'

/** Encodes files on several cores. */
export interface Encoder {
  readonly cores: number
  /** Returns whether this thread finishes additional work (in the unit of `encodingCost`) sooner than a new thread. */
  isWorthHere(cost: number): boolean
  /** Encodes a file, the largest work first. */
  readonly encode: (task: EncodeTask) => Promise<Uint8Array>
  /** Compresses small files in a thread, if `next` still has some when a core is free. */
  compressBatch(next: () => FileBatch | undefined): Promise<BatchAnswer | undefined>
  /** Fails all waiting and later encodings with an `AbandonedError`. */
  readonly abandon: () => void
  /** Number of results, and the codec time summed over all cores. */
  readonly work: { readonly results: number; readonly milliseconds: number }
  /** Ends the threads. Running encodings fail. */
  close(): Promise<void>
}

/** An encoding was not started because another file failed. */
export class AbandonedError extends Error {
  override readonly name = 'AbandonedError'
}

/** The limits of an encoder, and its codecs. */
export interface EncoderOptions {
  readonly cores: number
  /** Memory limit in bytes for files, tables and windows of codecs. A file that needs more is encoded alone. */
  readonly memory: number
  /** Encodes in this thread. */
  readonly encode: Encode
  readonly startThread: () => EncodeThread
}

/**
 * The work that is done sooner than a thread starts (30 ms of CPU), in the unit of `encodingCost`. About 80 kB of
 * scripts in three codings.
 */
const smallWork = 5_000_000

const largeForWasm = 512 * 1024

/** Opens an encoder. It starts a thread only if the work is worth it. */
export function openEncoder({ cores, memory, encode, startThread }: EncoderOptions): Encoder {
  const run = createWorkQueue({ tasks: cores, memory })
  const work = { results: 0, milliseconds: 0 }
  const threads: EncodeThread[] = []
  const idle: EncodeThread[] = []
  let costHere = 0
  let isAbandoned = false

  const takeThread = (): EncodeThread => {
    const thread = idle.pop() ?? startThread()
    if (!threads.includes(thread)) threads.push(thread)
    return thread
  }

  const encodeInThread = async (task: EncodeTask): Promise<TimedResult> => {
    const thread = takeThread()
    // A thread that failed is not used again, and `close` ends it.
    const result = await thread.encodeFile(task)
    if (fillsMemory(task)) await thread.end()
    else idle.push(thread)
    return result
  }

  const isWorthHere = (cost: number): boolean => {
    costHere += cost
    return costHere <= smallWork
  }

  const count = ({ results, milliseconds }: Encoder['work']): void => {
    work.results += results
    work.milliseconds += milliseconds
  }

  return {
    cores,
    isWorthHere,
    encode: async (task) => {
      const { coding, size } = task
      const cost = encodingCost(coding, size)
      return await run({ cost, memory: size + encodingMemory(coding, size) }, async () => {
        if (isAbandoned) throw new AbandonedError('another file failed')
        const { encoded, milliseconds } = await (isWorthHere(cost)
          ? encodeFile(task, encode)
          : encodeInThread(task))
        count({ results: 1, milliseconds })
        return encoded
      })
    },
    compressBatch: async (next) =>
      await run({ cost: 0, memory: 0 }, async () => {
        const batch = next()
        if (batch === undefined) return undefined
        const thread = takeThread()
        const answer = await thread.compressBatch(batch)
        idle.push(thread)
        count(answer.work)
        return answer
      }),
    abandon: () => {
      isAbandoned = true
    },
    work,
    close: async () => {
      await Promise.all(threads.map(async (thread) => await thread.end()))
    },
  }
}

/** Returns whether to replace the thread: WebAssembly holds up to 30 times the file's size and never releases it. */
function fillsMemory({ size, coding }: EncodeTask): boolean {
  return isWasm && coding === 'zstd' && size >= largeForWasm
}
