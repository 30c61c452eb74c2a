import { createEncodeQueue, type EncodeQueue } from './create-encode-queue.ts'
import { createEncodeAll } from './encode-all.ts'
import { encodingCost } from './encoding-cost.ts'
import {
  type EncodeAll,
  type EncodeTask,
  type EncodeThread,
  startEncodeThread,
} from './start-encode-thread.ts'
import { isWasm } from './zstd-encoder.ts'

/** Encodes on all cores that it may use. */
export interface Encoder extends EncodeQueue {
  /** Results so far, and the time that they took, summed over the cores. */
  readonly work: { readonly results: number; readonly milliseconds: number }
  close(): Promise<void>
}

/** How much it may take. */
export interface EncoderLimits {
  readonly cores: number
  /** Of the codecs' tables and windows, in bytes; a file that needs more is encoded alone. */
  readonly memory: number
}

/**
 * A thread takes 30 ms of CPU to start: so much work, in the unit of `encodingCost`, is done sooner without,
 * about 80 kB of scripts in three codings.
 */
const smallWork = 5_000_000

const largeForWasm = 512 * 1024

/** Threads are started one by one, at the first work that is worth it. */
export function openEncoder({ cores, memory }: EncoderLimits): Encoder {
  const work = { results: 0, milliseconds: 0 }
  const encodeHere = createEncodeAll()
  const threads: EncodeThread[] = []
  const idle: EncodeThread[] = []
  let costHere = 0

  const encodeInThread: EncodeAll = async (tasks) => {
    const thread = idle.pop() ?? startEncodeThread()
    if (!threads.includes(thread)) threads.push(thread)
    const answers = await thread.encodeAll(tasks)
    // One that failed is not used again, and ends with the others.
    if (tasks.some(fillsMemory)) await thread.end()
    else idle.push(thread)
    return answers
  }

  const encodeAll: EncodeAll = async (tasks) => {
    const startedAt = performance.now()
    for (const { bytes, coding } of tasks) costHere += encodingCost(coding, bytes.length)
    const answers = await (costHere > smallWork ? encodeInThread : encodeHere)(tasks)
    work.results += tasks.length
    work.milliseconds += performance.now() - startedAt
    return answers
  }

  return {
    ...createEncodeQueue(encodeAll, { tasks: cores, memory }),
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
