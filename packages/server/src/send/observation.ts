import type { IncomingMessage, ServerResponse } from 'node:http'
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

/** Attaches what is noted to the response that it is about. */
export function observe(response: ServerResponse & MaybeObserved, noted: Observation): void {
  response[observation] = noted
  response.writeHead = passHead
}

/** What is noted of a response; `undefined` where nobody watches. */
export function observationOf(response: ServerResponse & MaybeObserved): Observation | undefined {
  return response[observation]
}

/** Whether nobody but us has changed the response. */
export function isMerelyObserved(response: ServerResponse): boolean {
  return response.writeHead === passHead
}

/** It does nothing of its own: it is there for `writeHead`, which takes its slower way only for a response that has it. */
function passHead(this: ServerResponse, ...given: readonly unknown[]): ServerResponse {
  callOriginal(this, 'writeHead', given)
  return this
}

/** What a response does without us: as Node's class has it, or whoever gave it another prototype. */
export function callOriginal(
  response: ServerResponse,
  method: 'writeHead' | 'write' | 'end' | 'destroy',
  given: readonly unknown[],
): unknown {
  const original: ServerResponse = Object.getPrototypeOf(response)
  // oxlint-disable-next-line typescript/unbound-method -- bound right here
  return Reflect.apply(original[method], response, given)
}
