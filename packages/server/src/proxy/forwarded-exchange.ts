import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { firstField, joinedField } from '../protocol/request-head.ts'
import { sendContinue } from '../send/continue.ts'
import { observationOf } from '../send/observation.ts'
import type { UpstreamNote } from '../site/upstream-note.ts'
import { destroyWithClient, markApplicationResponse } from '../send/reset-or-destroy.ts'
import { sendAnswer } from '../send/send-answer.ts'
import { acceptUpgrade, isUpgradeOffered } from '../send/upgrade.ts'
import { badRequest, proxyPreflight, upgradeRequired } from '../site/answers.ts'
import type { Answer, ProxiedContent } from '../site/site.ts'
import type { FieldsToTarget } from './fields-to-target.ts'
import { fieldsToClient } from './fields-to-client.ts'
import { joinSockets } from './join-sockets.ts'
import { codeOf, type FailureStatus, statusOfFailure } from './proxy-failure.ts'
import type { TargetConnection, TargetHandler, TargetPools } from './target-pools.ts'
import { Upload } from './upload.ts'
import { addForwardedTrailers, compressForwarded, writeForwardedHead } from './write-answer.ts'

/** A target that sends more responses with a status of 1xx to one request is broken. */
const mostInformational = 16
/** RFC 9110 §9.2.2. */
const idempotent: ReadonlySet<string> = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT'])
/** The target closed the connection. */
const isClose = /^(?:ECONNRESET|EPIPE|other side closed|closed)$/

/** The context of all exchanges. */
export interface ExchangeContext {
  readonly pools: TargetPools
  readonly fail: (exchange: ForwardedRequest, status: FailureStatus, cause?: string) => void
  /** Reports a failure after the beginning of the answer. */
  readonly cut: (exchange: ForwardedRequest, cause: string) => void
  readonly earlyHints: boolean
}

/** A request, its response, and the rule that matches it. */
export interface ForwardedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly content: ProxiedContent
}

/** A request and the answer of its target. undici calls the methods that begin with `on`. */
export class ForwardedExchange implements TargetHandler {
  connection: TargetConnection | undefined
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly content: ProxiedContent
  readonly #context: ExchangeContext
  readonly #began = performance.now()
  #fields: FieldsToTarget = { fields: [], hasBody: false, length: undefined }
  #upload: Upload | undefined
  #abort: ((error?: Error) => void) | undefined
  #resume: (() => void) | undefined
  #informational = 0
  #isRepeated = false
  #isKeptConnection = false
  #hasAnswerBegun = false
  #mayBeSilent = false
  #isOver = false

  constructor({ request, response, content }: ForwardedRequest, context: ExchangeContext) {
    this.request = request
    this.response = response
    this.content = content
    this.#context = context
  }

  begin(fields: FieldsToTarget): void {
    const { request, response, content } = this
    const { proxy, from } = content.rule
    this.#fields = fields
    noteUpstream(response, { rule: from })
    markApplicationResponse(response)
    response.on('error', () => undefined)
    const own = isUpgradeOffered(response) ? refuseHandshake(request) : proxyPreflight(request, proxy.answer)
    if (own !== undefined) return sendAnswer(response, own)
    if ((fields.length ?? 0) > proxy.bodyLimit) return this.#fail(413)
    response.once('close', () => this.#leave())
    response.on('timeout', () => this.#endSilence())
    response.setTimeout(proxy.timeout)
    destroyWithClient(request, response)
    this.#dispatch('dispatch')
  }

  #dispatch(how: 'dispatch' | 'dispatchAnew'): void {
    const { request, response, content } = this
    const { timeout, bodyLimit } = content.rule.proxy
    const { fields, hasBody } = this.#fields
    this.#upload = hasBody ? new Upload(request, bodyLimit, () => this.#fail(413)) : undefined
    try {
      this.#context.pools[how](
        content.rule.proxy,
        {
          path: content.target,
          method: request.method ?? 'GET',
          headers: fields,
          headersTimeout: timeout,
          body: this.#upload ?? null,
          upgrade: isUpgradeOffered(response) ? 'websocket' : null,
        },
        this,
      )
    } catch (error) {
      // undici rejects a method or a field that Node accepts.
      this.onError(error instanceof Error ? error : new Error(String(error)))
    }
  }

  onConnect(abort: (error?: Error) => void): void {
    this.#abort = abort
    if (this.#isOver) return abort()
    const { connection } = this
    this.#isKeptConnection = connection !== undefined && connection.requests > 0
    if (connection !== undefined) connection.requests += 1
    sendContinue(this.response)
  }

  onResponseStarted(): void {
    this.#hasAnswerBegun = true
  }

  onHeaders(status: number, raw: Buffer[], resume: () => void): boolean {
    const { request, response, content } = this
    const { rule } = content
    if (status < 200) {
      this.#informational += 1
      if (this.#informational > mostInformational)
        this.#abort?.(
          new Error(`the target sent more than ${mostInformational} responses with a status of 1xx`),
        )
      else if (status === 103) this.#hint(raw)
      return true
    }
    noteUpstream(response, { status, milliseconds: performance.now() - this.#began })
    this.#resume = resume
    const fields = fieldsToClient(raw, rule, status)
    const mediaType = firstField(fields, 'content-type')
    this.#mayBeSilent = mediaType?.startsWith('text/event-stream') === true
    const isEarly = request.httpVersionMajor === 1 && !request.complete
    if (isEarly) fields.push('Connection', 'close')
    if (!this.#mayBeSilent) compressForwarded(request, response, { status, fields })
    writeForwardedHead(response, status, fields)
    if (this.#mayBeSilent) response.flushHeaders()
    if (status === 204 || status === 304) {
      // undici expects a body if the answer has a length (RFC 9110 §8.6).
      this.#isOver = true
      response.end()
    }
    return true
  }

  onData(chunk: Buffer): boolean {
    if (this.response.write(chunk)) return true
    this.response.once('drain', () => this.#resume?.())
    return false
  }

  onComplete(trailers: readonly (Buffer | string)[] | null): void {
    const { response } = this
    if (this.#isOver) return
    this.#isOver = true
    if (trailers !== null && trailers.length > 0) addForwardedTrailers(response, trailers.map(toText))
    response.end()
  }

  onUpgrade(_status: number, raw: Buffer[] | string[] | null, socket: Duplex): void {
    const { response, content } = this
    const text = (raw ?? []).map(toText)
    if (joinedField(text, 'upgrade')?.toLowerCase() !== 'websocket') {
      socket.destroy()
      return this.#fail(502, 'the target switched to another protocol than WebSocket')
    }
    this.#isOver = true
    noteUpstream(response, { status: 101, milliseconds: performance.now() - this.#began })
    const fields = fieldsToClient(
      (raw ?? []).map((part) => Buffer.from(part)),
      content.rule,
      101,
    )
    const taken = response.destroyed ? undefined : acceptUpgrade(response)
    if (taken === undefined) socket.destroy()
    else joinSockets(taken, socket, fields)
  }

  onError(error: Error): void {
    const { response } = this
    const code = codeOf(error)
    if (this.#isOver) return
    if (response.headersSent) {
      this.#isOver = true
      noteUpstream(response, { error: code })
      this.#context.cut(this, code)
      response.destroy()
    } else if (this.#mayRepeat(code)) {
      this.#isRepeated = true
      this.#dispatch('dispatchAnew')
    } else {
      this.#fail(statusOfFailure(code), code)
    }
  }

  /** Whether the target closed a kept connection before it could read the request. */
  #mayRepeat(code: string): boolean {
    const { method = '' } = this.request
    const isUnanswered = this.#isKeptConnection && !this.#hasAnswerBegun && !this.#isRepeated
    return isUnanswered && isClose.test(code) && idempotent.has(method) && !this.#fields.hasBody
  }

  #fail(status: FailureStatus, cause?: string): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#abort?.()
    // undici keeps the body of a request that it did not send.
    this.#upload?.destroy()
    if (this.response.headersSent) this.response.destroy()
    else this.#context.fail(this, status, cause)
  }

  /** The client has its answer, or closed the connection. */
  #leave(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#abort?.()
  }

  /** Called after `timeout` without a byte to or from the client. undici limits the wait for the head. */
  #endSilence(): void {
    const { request, response } = this
    const waitsForHead = !response.headersSent && request.complete
    if (!waitsForHead && !this.#mayBeSilent) response.destroy()
  }

  #hint(raw: readonly Buffer[]): void {
    const { request, response } = this
    // RFC 8297 §3: clients before HTTP/2 may mistake a 103 for the answer.
    if (request.httpVersionMajor === 1 && (!this.#context.earlyHints || request.httpVersionMinor === 0))
      return
    const link = joinedField(
      raw.map((part) => part.toString('latin1')),
      'link',
    )
    if (link !== undefined) response.writeEarlyHints({ link })
  }
}

/** Returns the error for a handshake that RFC 6455 §4.2.1 forbids. */
function refuseHandshake({ rawHeaders }: IncomingMessage): Answer | undefined {
  if (joinedField(rawHeaders, 'sec-websocket-version') !== '13') return upgradeRequired
  const key = joinedField(rawHeaders, 'sec-websocket-key') ?? ''
  return /^[+/\dA-Za-z]{22}==$/.test(key) ? undefined : badRequest
}

function toText(part: Buffer | string): string {
  return typeof part === 'string' ? part : part.toString('latin1')
}

/** Adds a fact for the access log and the metrics. */
export function noteUpstream(response: ServerResponse, fact: UpstreamNote): void {
  const noted = observationOf(response)
  if (noted !== undefined) noted.upstream = { ...noted.upstream, ...fact }
}
