import { Worker } from 'node:worker_threads'
import type { DeltaCoding } from '@serve-dist/manifest'
import type { DeltaSource } from './delta-codec.ts'

/** What a thread is sent, and what it sends back. */
export interface DeltaTask extends DeltaSource {
  readonly codings: readonly DeltaCoding[]
}
export type DeltaAnswer =
  | { readonly deltas: Readonly<Partial<Record<DeltaCoding, Uint8Array>>> }
  | { readonly problem: string }

/** A thread that makes deltas; one call at a time. */
export interface DeltaThread {
  readonly encode: (task: DeltaTask) => Promise<DeltaAnswer>
  end(): Promise<void>
}

/** `dist` is beside `src` and beside itself: tests run the sources, and Node 20 no TypeScript. */
const program = new URL('../../dist/deltas/delta-worker.js', import.meta.url)

export function startDeltaThread(): DeltaThread {
  // The thread needs none of the main program's flags, such as loaders and conditions.
  const worker = new Worker(program, { execArgv: [] })
  let settle: ((answer: DeltaAnswer) => void) | undefined
  let failure: DeltaAnswer | undefined
  const fail = (problem: string): void => {
    failure ??= { problem }
    settle?.(failure)
  }
  worker.on('message', (answer: DeltaAnswer) => settle?.(answer))
  worker.on('messageerror', (error) => fail(error.message))
  worker.on('error', (error) => fail(error.message))
  worker.on('exit', (code) => fail(`its thread ended with code ${code}`))
  return {
    encode: async (task) =>
      await new Promise((resolve) => {
        settle = resolve
        if (failure === undefined) worker.postMessage(task, [])
        else resolve(failure)
      }),
    end: async () => {
      await worker.terminate()
    },
  }
}
