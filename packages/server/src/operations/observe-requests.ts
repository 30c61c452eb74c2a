import type { IncomingMessage, ServerResponse } from 'node:http'
import { answerField, classifyCacheControl, type Exchange, refusedExchange } from './exchange.ts'
import { type Observation, observationOf, observe } from '../send/observation.ts'
import type { Answer } from '../site/site.ts'
import type { RequestListener } from '../transport/transport.ts'
import { runWhenWritable } from '../send/run-when-writable.ts'

/** An observer of requests. */
export interface RequestObserver {
  /** Called when a request begins. */
  readonly begin?: () => void
  /** Called once for each request, after its answer is sent or its client has disconnected. */
  readonly end: (exchange: Exchange) => void
  /** Called for each connection that is closed because too many are open. */
  readonly drop?: () => void
}

/** Options of `observeRequests`. */
export interface ObserveOptions {
  readonly observers: readonly RequestObserver[]
  /** Returns the client's address. */
  readonly addressOf: (request: IncomingMessage) => string
}

/**
 * Wraps a listener so that observers see its answers. Returns the listener itself if there are no
 * observers.
 */
export function observeRequests(
  listener: RequestListener,
  { observers, addressOf }: ObserveOptions,
): RequestListener {
  if (observers.length === 0) return listener
  /** A shared function instead of a closure per response. */
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
    response.on('close', noteEnd)
    if (response.socket === null) runWhenWritable(response, () => {}, noteEnd.bind(response))
    listener(request, response)
  }
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
    cache: classifyCacheControl(fieldOf(response, answer, 'Cache-Control')),
    bytes: hasBody ? noted.bytes : 0,
    savedBytes: hasBody && !isAborted ? (answer?.savedBytes ?? 0) : 0,
    milliseconds,
    isAborted,
    upstream: noted.upstream,
  }
}

/** A response does not know the fields of a prebuilt list that was passed to Node. */
function fieldOf(
  response: ServerResponse,
  answer: Answer | undefined,
  name: Parameters<typeof answerField>[1],
): string | undefined {
  if (answer === undefined) return response.getHeader(name)?.toString()
  return answerField(answer.fields, name)
}

/** Over HTTP/2, a response is always `writableFinished`; only its stream knows. */
function wasAborted(response: ServerResponse & { readonly stream?: { readonly aborted: boolean } }): boolean {
  return response.stream === undefined ? !response.writableFinished : response.stream.aborted
}
