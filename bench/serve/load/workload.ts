import type { ContentCoding } from '@serve-dist/manifest'
import type { ServerDefinition } from '../peers/server-definition.ts'

/** What is asked, and what must come back. */
export interface WorkloadRequest {
  /** The request target, as it goes over the wire. */
  readonly target: string
  /** The file whose bytes are the answer, relative to the workload's folder. */
  readonly file: string
  readonly method: 'GET' | 'HEAD'
  /** The codings of `Accept-Encoding`, in the order that a client lists them. */
  readonly accept: readonly ContentCoding[]
  /** Makes the request conditional on the validator that this very server gave before. */
  readonly condition?: 'If-None-Match' | 'If-Modified-Since'
}

/** A workload that is ready to be sent. */
export interface PreparedWorkload {
  /** A build with variants and a manifest. */
  readonly directory: string
  readonly requests: readonly WorkloadRequest[]
  /** Indexes of `requests` in the order of sending, again and again. */
  readonly sequence: readonly number[]
  /** Whether each request comes over a connection of its own. */
  readonly newConnections: boolean
  /** A target that is asked for twenty times a second meanwhile; how long it takes is measured too. */
  readonly beside?: string
}

/** Something to measure. */
export interface Workload {
  readonly name: string
  readonly title: string
  /** The servers that it is for, by the names of those that others are for; by default all. */
  readonly servers?: readonly ServerDefinition[]
  /** A round of it has at least so many seconds of load: what stands beside it is asked for seldom. */
  readonly leastSeconds?: number
  /** Makes the fixtures. */
  prepare(): Promise<PreparedWorkload>
}
