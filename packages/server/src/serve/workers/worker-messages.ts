import type { Worker } from 'node:cluster'
import type { OperatorErrorCode } from '@serve-dist/manifest'
import type { StoreResponse, StoreRequest } from '../../mirror/share-mirror.ts'
import type { RegistryContent } from '../../operations/metrics.ts'
import type { PrepareOutcome } from '../../live/reload-outcome.ts'
import type { ServedBuild, SiteCounts, SiteSummary } from '../../site/site.ts'

/** From a worker to its primary. */
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

/** It has loaded a build, and does not listen yet. */
export interface WorkerLoaded extends ServedBuild, SiteCounts {
  readonly type: 'serve-dist:loaded'
}

/** It listens. */
export interface WorkerReady {
  readonly type: 'serve-dist:ready'
  readonly url: string
  readonly redirectUrl: string | undefined
  readonly summary: SiteSummary
  /** Bytes of the process that are in memory, the site among them. */
  readonly residentBytes: number
}

/** It cannot start; the operator can mend the reason. */
interface WorkerFailed {
  readonly type: 'serve-dist:failed'
  readonly code: OperatorErrorCode
  readonly message: string
}

interface WorkerPrepared {
  readonly type: 'serve-dist:prepared'
  readonly outcome: PrepareOutcome
}

/** Its metrics, or why it cannot read them. */
interface WorkerCounted {
  readonly type: 'serve-dist:counted'
  readonly content: RegistryContent | string
}

/** It needs something of the store, which its primary alone asks. */
interface WorkerAsks {
  readonly type: 'serve-dist:ask'
  /** The reply has the same. */
  readonly number: number
  readonly question: StoreRequest
}

/** From the primary to its workers. */
export type PrimaryMessage = PrimaryOrder | PrimaryReply

/** What the primary says about a question. */
export interface PrimaryReply {
  readonly type: 'serve-dist:reply'
  readonly number: number
  readonly reply: StoreResponse | { readonly code: OperatorErrorCode; readonly problems: readonly string[] }
}

/** What a worker must do. */
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

/** An application and its libraries may send messages of their own over the same channel. */
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

/** As {@link isWorkerMessage}, the other way. */
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

/** Whether it is one of ours: an application may send messages of its own, but none with our names. */
function hasType(message: unknown, types: readonly string[]): boolean {
  if (typeof message !== 'object' || message === null || !('type' in message)) return false
  return typeof message.type === 'string' && types.includes(message.type)
}

/** What one worker at a time fills; when it ends, another one follows. */
export interface WorkerSlot {
  worker?: Worker | undefined
  /** What it has loaded, or what the primary has it swap in. */
  build?: ServedBuild | undefined
  /** Whether it may listen, because it has the build of the others. */
  isAdmitted: boolean
  /** Its message when it began to listen. */
  ready?: WorkerReady | undefined
  /** Runs until another worker may start. */
  timer?: NodeJS.Timeout | undefined
  /** Workers in a row that ended soon. */
  failures: number
}

/** A worker that has just ended cannot receive messages. */
export function sendToWorker(worker: Worker | undefined, message: PrimaryMessage): void {
  if (worker?.isConnected() === true) worker.send(message, () => {})
}

/** Settles when it is sent. When the primary has gone, Node ends this process. */
export async function sendToPrimary(message: WorkerMessage): Promise<void> {
  await new Promise<void>((resolve) => {
    if (process.send === undefined) resolve()
    else process.send(message, () => resolve())
  })
}
