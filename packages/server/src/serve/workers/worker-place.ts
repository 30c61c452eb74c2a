import type { Worker } from 'node:cluster'
import type { PrimaryMessage, WorkerReady } from './worker-messages.ts'

/** The place of a worker; when it dies, another one takes it. */
export interface Place {
  worker?: Worker | undefined
  /** What it has loaded, or has been told to put in its place. */
  buildId?: string | undefined
  /** Whether it may listen: its build is that of the others. */
  isAdmitted: boolean
  /** What it said when it began to listen. */
  ready?: WorkerReady | undefined
  /** Waits until another one may start. */
  timer?: NodeJS.Timeout | undefined
  /** Workers that ended soon here, one after the other. */
  failures: number
}

/** Tells a worker something; one that has just died hears nothing any more. */
export function tellWorker(worker: Worker | undefined, message: PrimaryMessage): void {
  if (worker?.isConnected() === true) worker.send(message, () => {})
}
