import { startThread } from '@serve-dist/foundation/concurrency/start-thread'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
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
  const { ask, end } = startThread<DeltaTask, DeltaAnswer>(program)
  return {
    encode: async (task) => await ask(task).catch((error: unknown) => ({ problem: reasonOf(error) })),
    end,
  }
}
