import type { IncomingMessage, ServerResponse } from 'node:http'
import { callOriginal } from './intercept.ts'
import type { Answer } from '../site/site.ts'
import type { UpstreamNote } from '../site/upstream-note.ts'

/** Notes about a request while it is answered. */
export interface Observation {
  readonly request: IncomingMessage
  /** The start in milliseconds, from `performance.now()`. */
  readonly begin: number
  /** The client's address; `''` if it is not needed. */
  readonly address: string
  /** Bytes of the body that were passed to the connection. */
  bytes: number
  /** Whether `end` was called. A response that ends in slices writes the same bytes again. */
  isEnded: boolean
  /** Whether the observers know that the answer is complete. */
  isOver: boolean
  /** Why the body of its request was refused. */
  refusal: Refusal | undefined
  /** The build's answer; `undefined` for answers of an application. */
  answer: Answer | undefined
  /** The target of a rule that forwarded the request; absent without one. */
  upstream?: UpstreamNote
}

/** A refusal of a request that Node cannot parse. */
interface Refusal {
  readonly status: number
  /** Node's error code. */
  readonly error: string
}

const observation: unique symbol = Symbol('observation')

interface MaybeObserved {
  [observation]?: Observation
}

/** Attaches notes to a response and counts the bytes of its body. */
export function observe(response: ServerResponse & MaybeObserved, noted: Observation): void {
  response[observation] = noted
  response.writeHead = passHead
  response.write = countWrite
  response.end = countEnd
}

/** Returns the notes about a response; `undefined` if it is not observed. */
export function observationOf(response: ServerResponse & MaybeObserved): Observation | undefined {
  return response[observation]
}

/** Returns whether no other library has changed the response. */
export function hasOriginalMethods(response: ServerResponse): boolean {
  return response.writeHead === passHead
}

// Shared functions instead of closures per response.

/** Only marks an observed response, so that `sendAnswer` can use its fast path. */
function passHead(this: ServerResponse, ...given: readonly unknown[]): ServerResponse {
  callOriginal(this, 'writeHead', given)
  return this
}

function countWrite(this: ServerResponse, ...given: readonly unknown[]): boolean {
  const noted = observationOf(this)
  if (noted !== undefined && !noted.isEnded) noted.bytes += lengthOf(given)
  return callOriginal(this, 'write', given) === true
}

function countEnd(this: ServerResponse, ...given: readonly unknown[]): ServerResponse {
  const noted = observationOf(this)
  if (noted !== undefined && !noted.isEnded) {
    noted.bytes += lengthOf(given)
    noted.isEnded = true
  }
  callOriginal(this, 'end', given)
  return this
}

function lengthOf([chunk, coding]: readonly unknown[]): number {
  if (chunk instanceof Uint8Array) return chunk.byteLength
  if (typeof chunk !== 'string') return 0
  return Buffer.byteLength(chunk, isBufferEncoding(coding) ? coding : 'utf8')
}

function isBufferEncoding(coding: unknown): coding is BufferEncoding {
  return typeof coding === 'string' && Buffer.isEncoding(coding)
}
