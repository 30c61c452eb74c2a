import type { ReloadOutcome } from './open-site-store.ts'
import type { SiteSummary } from './site.ts'

/** What a worker tells its primary. */
export type WorkerMessage = WorkerReady | WorkerFailed | WorkerReloaded

/** It listens. */
export interface WorkerReady {
  readonly type: 'serve-dist:ready'
  readonly url: string
  readonly buildId: string
  readonly summary: SiteSummary
  /** Bytes of the process that are in memory, the site among them. */
  readonly residentBytes: number
}

/** It cannot start, for a reason that an operator can mend. */
interface WorkerFailed {
  readonly type: 'serve-dist:failed'
  readonly message: string
}

interface WorkerReloaded {
  readonly type: 'serve-dist:reloaded'
  readonly outcome: ReloadOutcome
}

/** What a primary tells its workers. */
export type PrimaryMessage = { readonly type: 'serve-dist:drain' } | { readonly type: 'serve-dist:reload' }

/** An application and its libraries may send messages of their own over the same channel. */
export function isWorkerMessage(message: unknown): message is WorkerMessage {
  return hasType(message, ['serve-dist:ready', 'serve-dist:failed', 'serve-dist:reloaded'])
}

/** As {@link isWorkerMessage}, the other way. */
export function isPrimaryMessage(message: unknown): message is PrimaryMessage {
  return hasType(message, ['serve-dist:drain', 'serve-dist:reload'])
}

function hasType(message: unknown, types: readonly string[]): boolean {
  if (typeof message !== 'object' || message === null || !('type' in message)) return false
  return typeof message.type === 'string' && types.includes(message.type)
}
