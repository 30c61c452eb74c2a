import { Worker } from 'node:worker_threads'
import type { ContentCoding } from '@serve-dist/manifest'

/** What a thread is asked; `bytes` in shared memory is not copied. */
export interface EncodeTask {
  readonly bytes: Uint8Array
  readonly coding: ContentCoding
}

/** What it answers to one. */
export type EncodeAnswer = { readonly encoded: Uint8Array<ArrayBuffer> } | { readonly error: unknown }

/** Encodes one after the other and answers them all at once, in their order; fails when it cannot work at all. */
export type EncodeAll = (tasks: readonly EncodeTask[]) => Promise<readonly EncodeAnswer[]>

/** A thread that encodes. */
export interface EncodeThread {
  /** One call at a time. */
  readonly encodeAll: EncodeAll
  end(): Promise<void>
}

/** `dist` is beside `src` and beside itself: tests run the sources, and Node 20 no TypeScript. */
const defaultProgram = new URL('../dist/encode-worker.js', import.meta.url)

export function startEncodeThread(program: URL = defaultProgram): EncodeThread {
  const worker = new Worker(program)
  let settle:
    | { resolve: (answers: readonly EncodeAnswer[]) => void; reject: (reason: unknown) => void }
    | undefined
  let failure: unknown

  const fail = (error: unknown): void => {
    failure ??= error
    settle?.reject(failure)
  }
  worker.on('message', (answers: readonly EncodeAnswer[]) => settle?.resolve(answers))
  worker.on('messageerror', fail)
  worker.on('error', fail)
  worker.on('exit', (code) => fail(new Error(`the thread that encoded it ended with code ${code}`)))

  return {
    encodeAll: async (tasks) =>
      await new Promise<readonly EncodeAnswer[]>((resolve, reject) => {
        settle = { resolve, reject }
        if (failure === undefined) worker.postMessage(tasks, [])
        else reject(failure)
      }),
    end: async () => {
      await worker.terminate()
    },
  }
}
