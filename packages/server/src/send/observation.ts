import type { IncomingMessage, ServerResponse } from 'node:http'
import { callOriginal } from './intercept.ts'
import type { Answer } from '../site/site.ts'

/** What is noted of a request while it is answered. */
export interface Observation {
  readonly request: IncomingMessage
  /** Milliseconds, as `performance.now()` has them. */
  readonly begin: number
  /** Of the client; `''` where nobody asks for it. */
  readonly address: string
  /** Bytes of the body that were handed to the connection. */
  bytes: number
  /** Whether the end of the body was handed over; a response that writes it in pieces counts it once. */
  isEnded: boolean
  /** Whether the observers were told. */
  isOver: boolean
  /** With what its request was refused, as it could not be read to its end. */
  refusal: Refusal | undefined
  /** What the table answered; `undefined` where an application did. */
  answer: Answer | undefined
}

/** What Node could not read. */
interface Refusal {
  readonly status: number
  /** The code of the error. */
  readonly error: string
}

const observation: unique symbol = Symbol('observation')

interface MaybeObserved {
  [observation]?: Observation
}

/** Attaches what is noted to the response that it is about, and counts the bytes of its body. */
export function observe(response: ServerResponse & MaybeObserved, noted: Observation): void {
  response[observation] = noted
  response.writeHead = passHead
  response.write = countWrite
  response.end = countEnd
}

/** What is noted of a response; `undefined` where nobody watches. */
export function observationOf(response: ServerResponse & MaybeObserved): Observation | undefined {
  return response[observation]
}

/** Whether nobody but us has changed the response. */
export function isMerelyObserved(response: ServerResponse): boolean {
  return response.writeHead === passHead
}

// These are the same for all responses: closures for each would be work on the hot path.

/** It does nothing of its own: it is there for `writeHead`, which takes its slower way only for a response that has it. */
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
