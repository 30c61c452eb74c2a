import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { cacheUseOf, type Exchange, refusedExchange } from './exchange.ts'
import { callOriginal, type Observation, observationOf, observe } from '../send/observation.ts'
import type { Answer } from '../site/site.ts'
import type { RequestListener } from '../transport/transport.ts'

/** Who wants to know what becomes of requests. */
export interface RequestObserver {
  /** Called when a request is handed over. */
  readonly begin?: () => void
  /** Called once for each, when its answer is sent or its client has gone. */
  readonly end: (exchange: Exchange) => void
  /** Called for each connection that is closed unheard. */
  readonly drop?: () => void
}

/** How requests are watched. */
export interface ObserveOptions {
  readonly observers: readonly RequestObserver[]
  /** Tells whose request it is. */
  readonly addressOf: (request: IncomingMessage) => string
}

/**
 * Lets observers watch what a listener answers. Without them it is the listener itself: who does not watch
 * does not pay.
 */
export function observeRequests(
  listener: RequestListener,
  { observers, addressOf }: ObserveOptions,
): RequestListener {
  if (observers.length === 0) return listener
  const wait = createWaitingList(noteEnd)

  /** One function for all responses: a closure for each would be work on the hot path. */
  function noteEnd(this: ServerResponse): void {
    const noted = observationOf(this)
    if (noted === undefined || noted.isOver) return
    noted.isOver = true
    const exchange = describe(this, noted)
    for (const { end } of observers) end(exchange)
  }

  return (request, response) => {
    for (const { begin } of observers) begin?.()
    observe(response, {
      request,
      begin: performance.now(),
      address: addressOf(request),
      bytes: 0,
      isEnded: false,
      isOver: false,
      refusal: undefined,
      answer: undefined,
    })
    response.write = countWrite
    response.end = countEnd
    response.on('close', noteEnd)
    // A pipelined request whose turn has not come has no socket, and is never told that its client has gone.
    if (response.socket === null) wait(request.socket, response)
    listener(request, response)
  }
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

function describe(response: ServerResponse, noted: Observation): Exchange {
  const { request, begin, address, answer, refusal } = noted
  const milliseconds = performance.now() - begin
  if (refusal !== undefined) return { ...refusedExchange, ...refusal, request, address, milliseconds }
  const isAborted = wasAborted(response)
  const hasBody = request.method !== 'HEAD'
  return {
    request,
    address,
    status: response.headersSent ? response.statusCode : 499,
    coding: fieldOf(response, answer, 'Content-Encoding') ?? 'identity',
    cache: cacheUseOf(fieldOf(response, answer, 'Cache-Control')),
    bytes: hasBody ? noted.bytes : 0,
    savedBytes: hasBody && !isAborted ? (answer?.savedBytes ?? 0) : 0,
    milliseconds,
    isAborted,
  }
}

/** The prebuilt list goes to Node as it is, so that a response does not know the fields that it has sent. */
function fieldOf(
  response: ServerResponse,
  answer: Answer | undefined,
  name: keyof typeof inLowerCase,
): string | undefined {
  if (answer === undefined) return response.getHeader(name)?.toString()
  const { fields } = answer
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const known = fields[index]
    if (known === name || (known?.length === name.length && known.toLowerCase() === inLowerCase[name])) {
      return fields[index + 1]
    }
  }
  return undefined
}

/** Rules write names as they like; ours are found without a text made for each. */
const inLowerCase = { 'Content-Encoding': 'content-encoding', 'Cache-Control': 'cache-control' } as const

/** Over HTTP/2 a response calls itself finished in any case: there its stream knows. */
function wasAborted(response: ServerResponse & { readonly stream?: { readonly aborted: boolean } }): boolean {
  return response.stream === undefined ? !response.writableFinished : response.stream.aborted
}

/**
 * Remembers pipelined responses by the connection that they wait for, and lets them leave when it ends; those
 * whose turn has come by then are told by Node as well.
 */
function createWaitingList(
  leave: (this: ServerResponse) => void,
): (socket: Socket, response: ServerResponse) => void {
  const waiting = new WeakMap<Socket, Set<ServerResponse>>()

  function leaveAll(this: Socket): void {
    for (const response of waiting.get(this) ?? []) Reflect.apply(leave, response, [])
  }

  return (socket, response) => {
    const others = waiting.get(socket)
    const responses = others ?? new Set()
    if (others === undefined) {
      waiting.set(socket, responses)
      socket.once('close', leaveAll)
    }
    responses.add(response)
    response.once('close', () => responses.delete(response))
  }
}
