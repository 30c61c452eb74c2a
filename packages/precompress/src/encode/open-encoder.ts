import type { BatchAnswer, FileBatch } from './compress-batch.ts'
import { createEncodeQueue, type EncodeQueue } from './create-encode-queue.ts'
import { type EncodeTask, type EncodeThread, encodeTimed, type TimedResult } from './start-encode-thread.ts'
import type { Encode } from '../codecs/encode.ts'
import { encodingCost } from '../codecs/encoding-cost.ts'
import { isWasm } from '../codecs/zstd-encoder.ts'

/** Encodes on all cores that it may use. */
export interface Encoder extends EncodeQueue {
  readonly cores: number
  /** Whether so much more work, in the unit of `encodingCost`, is done sooner in this thread than in others. */
  isWorthHere(cost: number): boolean
  /** In a thread: within `fillUp`. */
  readonly compressBatch: (batch: FileBatch) => Promise<BatchAnswer>
  /** Results so far, and the time that they took, summed over the cores. */
  readonly work: { readonly results: number; readonly milliseconds: number }
  /** Ends the threads; what they work at fails. */
  close(): Promise<void>
}

/** How much it may take, and what encodes. */
export interface EncoderOptions {
  readonly cores: number
  /** Of the codecs' tables and windows, in bytes; a file that needs more is encoded alone. */
  readonly memory: number
  /** In this thread. */
  readonly encode: Encode
  readonly startThread: () => EncodeThread
}

/**
 * A thread takes 30 ms of CPU to start: so much work, in the unit of `encodingCost`, is done sooner without,
 * about 80 kB of scripts in three codings.
 */
const smallWork = 5_000_000

const largeForWasm = 512 * 1024

/** Threads are started one by one, at the first work that is worth it. */
export function openEncoder({ cores, memory, encode, startThread }: EncoderOptions): Encoder {
  const work = { results: 0, milliseconds: 0 }
  const threads: EncodeThread[] = []
  const idle: EncodeThread[] = []
  let costHere = 0

  const takeThread = (): EncodeThread => {
    const thread = idle.pop() ?? startThread()
    if (!threads.includes(thread)) threads.push(thread)
    return thread
  }

  const encodeInThread = async (task: EncodeTask): Promise<TimedResult> => {
    const thread = takeThread()
    // One that failed is not used again, and ends with the others.
    const result = await thread.encodeTimed(task)
    if (fillsMemory(task)) await thread.end()
    else idle.push(thread)
    return result
  }

  const isWorthHere = (cost: number): boolean => {
    costHere += cost
    return costHere <= smallWork
  }

  const encodeOne = async (task: EncodeTask): Promise<Uint8Array> => {
    const isHere = isWorthHere(encodingCost(task.coding, task.bytes.length))
    const { encoded, milliseconds } = await (isHere ? encodeTimed(task, encode) : encodeInThread(task))
    work.results += 1
    // Not the time between: the first work of a thread waits for its start.
    work.milliseconds += milliseconds
    return encoded
  }

  const compressBatch = async (batch: FileBatch): Promise<BatchAnswer> => {
    const thread = takeThread()
    const answer = await thread.compressBatch(batch)
    idle.push(thread)
    work.results += answer.work.results
    work.milliseconds += answer.work.milliseconds
    return answer
  }

  return {
    ...createEncodeQueue(encodeOne, { tasks: cores, memory }),
    cores,
    isWorthHere,
    compressBatch,
    work,
    close: async () => {
      await Promise.all(threads.map(async (thread) => await thread.end()))
    },
  }
}

/** WebAssembly holds up to 30 times the file and never gives it back: worth a new thread. */
function fillsMemory({ bytes, coding }: EncodeTask): boolean {
  return isWasm && coding === 'zstd' && bytes.length >= largeForWasm
}
