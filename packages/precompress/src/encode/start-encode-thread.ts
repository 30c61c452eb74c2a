import { startThread } from '@serve-dist/foundation/concurrency/start-thread'
import type { ContentCoding } from '@serve-dist/manifest'
import type { Encode } from '../codecs/encode.ts'
import type { BatchAnswer, FileBatch } from './compress-batch.ts'

/** `bytes` in shared memory is not copied on its way to a thread. */
export interface EncodeTask {
  readonly bytes: Uint8Array
  readonly coding: ContentCoding
}

/** A result, and what the codec took for it. */
export interface TimedResult {
  readonly encoded: Uint8Array<ArrayBuffer>
  readonly milliseconds: number
}

/** What a thread is sent, and what it sends back. */
export type ThreadRequest = EncodeTask | FileBatch
export type ThreadAnswer = TimedResult | BatchAnswer | { readonly error: unknown }

/** A thread that encodes; one call at a time. */
export interface EncodeThread {
  readonly encodeTimed: (task: EncodeTask) => Promise<TimedResult>
  readonly compressBatch: (batch: FileBatch) => Promise<BatchAnswer>
  end(): Promise<void>
}

/** `dist` is beside `src` and beside itself: tests run the sources, and Node 20 no TypeScript. */
const defaultProgram = new URL('../../dist/encode/encode-worker.js', import.meta.url)

export function startEncodeThread(program: URL = defaultProgram): EncodeThread {
  const { ask, end } = startThread<ThreadRequest, ThreadAnswer>(program)
  return {
    encodeTimed: async (task) => {
      const answer = await ask(task)
      if ('encoded' in answer) return answer
      throw 'error' in answer ? answer.error : unexpected
    },
    compressBatch: async (batch) => {
      const answer = await ask(batch)
      if ('results' in answer) return answer
      throw 'error' in answer ? answer.error : unexpected
    },
    end,
  }
}

const unexpected = new TypeError('the thread answered something else')

/** Encodes in this thread, which does nothing else meanwhile. */
export async function encodeTimed({ bytes, coding }: EncodeTask, encode: Encode): Promise<TimedResult> {
  const startedAt = performance.now()
  // A codec may answer a view of larger memory: only what holds nothing else can be handed to a thread.
  const encoded = new Uint8Array(await encode(bytes, coding))
  return { encoded, milliseconds: performance.now() - startedAt }
}
