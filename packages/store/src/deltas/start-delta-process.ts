import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { DeltaCoding } from '@serve-dist/manifest'
import type { DeltaSource } from './delta-codec.ts'

/** A request to a delta process. */
export interface DeltaTask extends DeltaSource {
  readonly codings: readonly DeltaCoding[]
}
export type DeltaAnswer =
  | { readonly deltas: Readonly<Partial<Record<DeltaCoding, Uint8Array>>> }
  | { readonly problem: string }

/** A process that encodes deltas, one call at a time. */
export interface DeltaProcess {
  /** Never rejects. If the process ends, the answer is a problem. */
  readonly encode: (task: DeltaTask) => Promise<DeltaAnswer>
  end(): void
}

/** Always points to `dist`: tests run the sources, and Node.js 20 cannot run TypeScript. */
const program = fileURLToPath(new URL('../../dist/deltas/delta-worker.js', import.meta.url))

/** Starts a process instead of a thread, because a thread cannot be ended while a codec runs. */
export function startDeltaProcess(): DeltaProcess {
  const child = fork(program, { execArgv: [], serialization: 'advanced' })
  const ended = once(child, 'exit').then(
    ([code, signal]) => ({ problem: `the encoder ended with ${String(signal ?? code)}` }),
    (error: unknown) => ({ problem: reasonOf(error) }),
  )
  return {
    encode: async (task) => {
      const answered = new Promise<DeltaAnswer>((resolve) => child.once('message', resolve))
      // A failure to send means that the process has ended.
      child.send(task, () => {})
      return await Promise.race([answered, ended])
    },
    end: () => void child.kill('SIGKILL'),
  }
}
