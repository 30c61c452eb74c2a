import type { Worker } from 'node:cluster'
import type { OperatorErrorCode } from '@serve-dist/manifest'
import type { StoreResponse, StoreRequest } from '../../mirror/share-mirror.ts'
import type { RegistryContent } from '../../operations/metrics.ts'
import type { PrepareOutcome } from '../../live/reload-outcome.ts'
import type { ServedBuild, SiteCounts, SiteSummary } from '../../site/site.ts'

/** A message from a worker to its primary process. */
export type WorkerMessage =
  | WorkerLoaded
  | WorkerReady
  | WorkerFailed
  | WorkerPrepared
  | WorkerCounted
  | WorkerAsks
  | { readonly type: 'serve-dist:certified' }
  | { readonly type: 'serve-dist:changed-file' }
  | { readonly type: 'serve-dist:swapped' }
  | { readonly type: 'serve-dist:pong' }

/** The worker has loaded a build and does not listen yet. */
export interface WorkerLoaded extends ServedBuild, SiteCounts {
  readonly type: 'serve-dist:loaded'
}

/** The worker listens. */
export interface WorkerReady {
  readonly type: 'serve-dist:ready'
  readonly url: string
  readonly redirectUrl: string | undefined
  readonly summary: SiteSummary
  /** The resident memory of the process in bytes, including the site. */
  readonly residentBytes: number
}

/** The worker cannot start because of an error that the operator can fix. */
interface WorkerFailed {
  readonly type: 'serve-dist:failed'
  readonly code: OperatorErrorCode
  readonly message: string
}

interface WorkerPrepared {
  readonly type: 'serve-dist:prepared'
  readonly outcome: PrepareOutcome
}

/** The metrics of the worker, or why they cannot be read. */
interface WorkerCounted {
  readonly type: 'serve-dist:counted'
  readonly content: RegistryContent | string
}

/** The worker needs something from the store, which only its primary process accesses. */
interface WorkerAsks {
  readonly type: 'serve-dist:ask'
  /** The number that identifies the reply. */
  readonly number: number
  readonly question: StoreRequest
}

/** A message from the primary process to a worker. */
export type PrimaryMessage = PrimaryOrder | PrimaryReply

/** The reply to a request. */
export interface PrimaryReply {
  readonly type: 'serve-dist:reply'
  readonly number: number
  readonly reply: StoreResponse | { readonly code: OperatorErrorCode; readonly problems: readonly string[] }
}

/** An order to a worker. */
export interface PrimaryOrder {
  readonly type:
    | 'serve-dist:listen'
    | 'serve-dist:ping'
    | 'serve-dist:metrics'
    | 'serve-dist:certify'
    | 'serve-dist:prepare'
    | 'serve-dist:swap'
    | 'serve-dist:drop'
    | 'serve-dist:drain'
}

/** Ignores other messages: an application and its libraries may use the same channel. */
export function isWorkerMessage(message: unknown): message is WorkerMessage {
  return hasType(message, [
    'serve-dist:loaded',
    'serve-dist:ready',
    'serve-dist:failed',
    'serve-dist:certified',
    'serve-dist:changed-file',
    'serve-dist:prepared',
    'serve-dist:counted',
    'serve-dist:swapped',
    'serve-dist:pong',
    'serve-dist:ask',
  ] satisfies WorkerMessage['type'][])
}

/** Ignores other messages, like {@link isWorkerMessage}. */
export function isPrimaryMessage(message: unknown): message is PrimaryMessage {
  return hasType(message, [
    'serve-dist:listen',
    'serve-dist:ping',
    'serve-dist:metrics',
    'serve-dist:certify',
    'serve-dist:prepare',
    'serve-dist:swap',
    'serve-dist:drop',
    'serve-dist:drain',
    'serve-dist:reply',
  ] satisfies PrimaryMessage['type'][])
}

/** Our message types are unique, although an application may send messages over the same channel. */
function hasType(message: unknown, types: readonly string[]): boolean {
  if (typeof message !== 'object' || message === null || !('type' in message)) return false
  return typeof message.type === 'string' && types.includes(message.type)
}

/** A place for one worker at a time. When a worker ends, the next one takes it. */
export interface WorkerSlot {
  worker?: Worker | undefined
  /** The build that the worker loaded at its start, or that it last got the order to activate. */
  build?: ServedBuild | undefined
  /** Whether the worker may listen, because it has the build of the others. */
  isAdmitted: boolean
  /** The message that it listens. */
  ready?: WorkerReady | undefined
  /** The timer until the next start. */
  timer?: NodeJS.Timeout | undefined
  /** The number of short-lived workers in a row. */
  failures: number
}

/** A worker that has just ended cannot receive messages. */
export function sendToWorker(worker: Worker | undefined, message: PrimaryMessage): void {
  if (worker?.isConnected() === true) worker.send(message, () => {})
}

/** Settles when the message is sent. If the primary process has ended, Node ends this process. */
export async function sendToPrimary(message: WorkerMessage): Promise<void> {
  await new Promise<void>((resolve) => {
    if (process.send === undefined) resolve()
    else process.send(message, () => resolve())
  })
}
