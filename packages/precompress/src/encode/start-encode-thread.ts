import { Worker } from 'node:worker_threads'
import type { ContentCoding } from '@serve-dist/manifest'
import type { Encode } from '../codecs/encode.ts'
import type { BatchAnswer, FileBatch } from './compress-batch.ts'

/** What a thread is asked; `bytes` in shared memory is not copied. */
export interface EncodeTask {
  readonly bytes: Uint8Array
  readonly coding: ContentCoding
}

/** What it answers to one, and what that took. */
export type EncodeAnswer = ({ readonly encoded: Uint8Array<ArrayBuffer> } | { readonly error: unknown }) & {
  readonly milliseconds: number
}

/** Encodes one after the other and answers them all at once, in their order; fails when it cannot work at all. */
export type EncodeAll = (tasks: readonly EncodeTask[]) => Promise<readonly EncodeAnswer[]>

/** What a thread is sent, and what it sends back. */
export type ThreadRequest = { readonly tasks: readonly EncodeTask[] } | { readonly batch: FileBatch }
export type ThreadAnswer = { readonly answers: readonly EncodeAnswer[] } | { readonly batch: BatchAnswer }

/** A thread that encodes; one call at a time. */
export interface EncodeThread {
  readonly encodeAll: EncodeAll
  readonly compressBatch: (batch: FileBatch) => Promise<BatchAnswer>
  end(): Promise<void>
}

/** `dist` is beside `src` and beside itself: tests run the sources, and Node 20 no TypeScript. */
const defaultProgram = new URL('../../dist/encode/encode-worker.js', import.meta.url)

export function startEncodeThread(program: URL = defaultProgram): EncodeThread {
  // Of what Node was told for the main program, such as loaders and conditions, it needs nothing.
  const worker = new Worker(program, { execArgv: [] })
  let settle: { resolve: (answer: ThreadAnswer) => void; reject: (reason: unknown) => void } | undefined
  let failure: unknown

  const fail = (error: unknown): void => {
    failure ??= error
    settle?.reject(failure)
  }
  worker.on('message', (answer: ThreadAnswer) => settle?.resolve(answer))
  worker.on('messageerror', fail)
  worker.on('error', fail)
  worker.on('exit', (code) => fail(new Error(`the thread that encoded it ended with code ${code}`)))

  const ask = async (request: ThreadRequest): Promise<ThreadAnswer> =>
    await new Promise((resolve, reject) => {
      settle = { resolve, reject }
      if (failure === undefined) worker.postMessage(request, [])
      else reject(failure)
    })

  return {
    encodeAll: async (tasks) => {
      const answer = await ask({ tasks })
      return 'answers' in answer ? answer.answers : []
    },
    compressBatch: async (batch) => {
      const answer = await ask({ batch })
      if ('batch' in answer) return answer.batch
      throw new TypeError('the thread answered something else')
    },
    end: async () => {
      await worker.terminate()
    },
  }
}

/** Encodes in this thread, which does nothing else meanwhile. */
export function createEncodeAll(encode: Encode): EncodeAll {
  return async (tasks) => {
    const answers: EncodeAnswer[] = []
    for (const { bytes, coding } of tasks) {
      const startedAt = performance.now()
      const answer = await encode(bytes, coding).then(
        // A codec may answer a view of larger memory: only what holds nothing else can be handed to a thread.
        (encoded) => ({ encoded: new Uint8Array(encoded) }),
        (error: unknown) => ({ error }),
      )
      answers.push({ ...answer, milliseconds: performance.now() - startedAt })
    }
    return answers
  }
}
