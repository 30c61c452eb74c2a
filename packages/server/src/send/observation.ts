import type { IncomingMessage, ServerResponse } from 'node:http'
import { callOriginal } from './intercept.ts'
import type { Answer } from '../site/site.ts'

/** Notes about a request while it is answered. */
export interface Observation {
  readonly request: IncomingMessage
  /** Milliseconds, as `performance.now()` has them. */
  readonly begin: number
  /** Of the client; `''` where nobody needs it. */
  readonly address: string
  /** Bytes of the body that the connection got. */
  bytes: number
  /** Whether `end` was called: a response that ends in slices writes the same bytes again. */
  isEnded: boolean
  /** Whether the observers know of its end. */
  isOver: boolean
  /** Why its request was refused: its body could not be parsed. */
  refusal: Refusal | undefined
  /** The build's answer; `undefined` where an application answers. */
  answer: Answer | undefined
}

/** A refusal of what Node cannot parse. */
interface Refusal {
  readonly status: number
  /** Node's error code. */
  readonly error: string
}

const observation: unique symbol = Symbol('observation')

interface MaybeObserved {
  [observation]?: Observation
}

/** Attaches notes to a response, and counts the bytes of its body. */
export function observe(response: ServerResponse & MaybeObserved, noted: Observation): void {
  response[observation] = noted
  response.writeHead = passHead
  response.write = countWrite
  response.end = countEnd
}

/** The notes about a response; `undefined` where nobody observes it. */
export function observationOf(response: ServerResponse & MaybeObserved): Observation | undefined {
  return response[observation]
}

/** Whether nobody but us has changed the response. */
export function hasOriginalMethods(response: ServerResponse): boolean {
  return response.writeHead === passHead
}

// These are the same for all responses: closures for each would be work on the hot path.

/** Does nothing of its own: it marks an observed response for `sendAnswer`, which takes a slower way for others. */
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
