import { startThread } from '@serve-dist/foundation/concurrency/start-thread'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { DeltaCoding } from '@serve-dist/manifest'
import type { DeltaSource } from './delta-codec.ts'

/** A request to a delta thread. */
export interface DeltaTask extends DeltaSource {
  readonly codings: readonly DeltaCoding[]
}
export type DeltaAnswer =
  | { readonly deltas: Readonly<Partial<Record<DeltaCoding, Uint8Array>>> }
  | { readonly problem: string }

/** A thread that encodes deltas, one call at a time. */
export interface DeltaThread {
  readonly encode: (task: DeltaTask) => Promise<DeltaAnswer>
  end(): Promise<void>
}

/** Always points to `dist`: tests run the sources, and Node.js 20 cannot run TypeScript. */
const program = new URL('../../dist/deltas/delta-worker.js', import.meta.url)

export function startDeltaThread(): DeltaThread {
  const { ask, end } = startThread<DeltaTask, DeltaAnswer>(program)
  return {
    encode: async (task) => await ask(task).catch((error: unknown) => ({ problem: reasonOf(error) })),
    end,
  }
}
