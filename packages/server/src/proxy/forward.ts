import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { compressResponse } from '../application/compress-response.ts'
import { chooseLiveCoding, liveCodings } from '../application/live-coding.ts'
import type { Forward } from '../hosts/handler.ts'
import { parseProxyTrust } from '../operations/trust-proxy.ts'
import { extendVary } from '../protocol/field-list.ts'
import { firstField, joinedField } from '../protocol/request-head.ts'
import { sendContinue } from '../send/continue.ts'
import { observationOf } from '../send/observation.ts'
import { createRequestFieldsReader } from '../send/read-request-fields.ts'
import { destroyPart, destroyWithClient, markApplicationResponse } from '../send/reset-or-destroy.ts'
import { runWhenWritable } from '../send/run-when-writable.ts'
import { sendAnswer } from '../send/send-answer.ts'
import { proxyPreflight } from '../site/answers.ts'
import type { ProxiedContent, Site } from '../site/site.ts'
import { acceptUpgrade, isUpgradeOffered } from '../send/upgrade.ts'
import { createFieldReader, type FieldsToTarget } from './fields-to-target.ts'
import { fieldsToClient, isConnectionField } from './fields-to-client.ts'
import { joinSockets } from './join-sockets.ts'
import { codeOf, failureAnswer, type FailureStatus, statusOfFailure } from './proxy-failure.ts'
import {
  createTargetPools,
  type TargetConnection,
  type TargetHandler,
  type TargetPools,
} from './target-pools.ts'
import { Upload } from './upload.ts'

/** The options of a proxy. */
export interface ProxyContext {
  readonly currentSite: () => Site
  /** The proxies to trust; absent without any. */
  readonly trustProxy?: string | number | undefined
  /** Reports the failure of a target. */
  readonly onProblem: (problem: Error) => void
}

/** Forwards requests to the targets of rules. */
export interface Proxy {
  readonly forward: Forward
  readonly close: () => Promise<void>
}

/** A target that sends more informational answers is broken. */
const mostInformational = 16
/** RFC 9110 §9.2.2. */
const idempotent: ReadonlySet<string> = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PUT', 'TRACE'])
/** The target closed the connection. */
const isClose = /^(?:ECONNRESET|EPIPE|other side closed|closed)$/

/** @throws OperatorError without `undici`. */
export async function openProxy({ currentSite, trustProxy, onProblem }: ProxyContext): Promise<Proxy> {
  const pools = await createTargetPools()
  const trust = trustProxy === undefined ? undefined : parseProxyTrust(trustProxy)
  const readFields = createFieldReader(trust)
  const readRequestFields = createRequestFieldsReader()
  const reported = new Map<string, number>()

  /** Reports each cause once a second at most. */
  const report = (rule: string, cause: string): void => {
    const text = `the target of the rule ${rule} failed: ${cause}`
    const now = performance.now()
    if (now - (reported.get(text) ?? Number.NEGATIVE_INFINITY) < 1000) return
    reported.set(text, now)
    onProblem(new Error(text))
  }

  const fail = (exchange: Exchange, status: FailureStatus, cause?: string): void => {
    const { request, response, content } = exchange
    if (cause !== undefined) report(content.rule.from, cause)
    noteUpstream(response, { error: cause })
    // The client may still send its body.
    if (request.httpVersionMajor === 1 && !request.complete) response.setHeader('Connection', 'close')
    sendAnswer(response, failureAnswer(currentSite(), readRequestFields(request), status))
  }

  return {
    forward(request, response, content) {
      runWhenWritable(response, () => {
        new Exchange(
          { request, response, content },
          { pools, fail, earlyHints: currentSite().earlyHints },
        ).begin(readFields(request, content.rule.proxy))
      })
    },
    close: pools.close,
  }
}

interface ExchangeContext {
  readonly pools: TargetPools
  readonly fail: (exchange: Exchange, status: FailureStatus, cause?: string) => void
  readonly earlyHints: boolean
}

interface ForwardedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly content: ProxiedContent
}

/** A request and the answer of its target. undici calls the methods that begin with `on`. */
class Exchange implements TargetHandler {
  connection: TargetConnection | undefined
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly content: ProxiedContent
  readonly #context: ExchangeContext
  readonly #began = performance.now()
  #fields: FieldsToTarget = { fields: [], hasBody: false, length: undefined }
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
    if (request.httpVersionMajor === 1) response.destroy = destroyPart
    response.on('error', () => undefined)
    const preflight = proxyPreflight(request, proxy.answer)
    if (preflight !== undefined) return sendAnswer(response, preflight)
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
    try {
      this.#context.pools[how](
        content.rule.proxy,
        {
          path: content.target,
          method: request.method ?? 'GET',
          headers: fields,
          headersTimeout: timeout,
          body: hasBody ? new Upload(request, bodyLimit, () => this.#fail(413)) : null,
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
      if (this.#informational > mostInformational) this.#abort?.(new Error('too many informational answers'))
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
    if (!this.#mayBeSilent) compress(request, response, { status, fields })
    writeHead(response, status, fields)
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
    if (trailers !== null && trailers.length > 0) addTrailers(response, trailers)
    response.end()
  }

  onUpgrade(_status: number, raw: Buffer[] | string[] | null, socket: Duplex): void {
    const { response, content } = this
    this.#isOver = true
    noteUpstream(response, { status: 101, milliseconds: performance.now() - this.#began })
    const fields = fieldsToClient((raw ?? []).map(toBuffer), content.rule, 101)
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

/** Compresses the answer like that of an application, unless it is small, or the client prefers it plain. */
function compress(
  request: IncomingMessage,
  response: ServerResponse,
  { status, fields }: { readonly status: number; readonly fields: string[] },
): void {
  const field = (name: string): string | undefined => firstField(fields, name)
  const length = field('content-length')
  const { varies, coding, isWeak } = chooseLiveCoding(
    {
      status,
      acceptEncoding: joinedField(request.rawHeaders, 'accept-encoding'),
      mediaType: field('content-type'),
      ifNoneMatch: firstField(request.rawHeaders, 'if-none-match'),
      entityTag: field('etag'),
      contentLength: length === undefined ? undefined : Number(length),
      contentEncoding: field('content-encoding'),
      contentRange: field('content-range'),
      cacheControl: field('cache-control'),
    },
    liveCodings,
  )
  if (coding !== undefined || isWeak) compressResponse(request, response)
  else if (varies) addVary(fields)
}

function addVary(fields: string[]): void {
  const at = fields.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'vary')
  if (at === -1) fields.push('Vary', 'Accept-Encoding')
  else fields[at + 1] = extendVary(fields[at + 1] ?? '', 'Accept-Encoding')
}

function writeHead(response: ServerResponse, status: number, fields: string[]): void {
  const noted = observationOf(response)
  if (noted !== undefined) noted.answer = { status, fields, content: { kind: 'none' } }
  if (response.req.httpVersionMajor === 1) {
    response.writeHead(status, fields)
    return
  }
  // HTTP/2 does not accept flat lists.
  for (let index = 0; index + 1 < fields.length; index += 2) {
    response.appendHeader(fields[index] ?? '', fields[index + 1] ?? '')
  }
  response.writeHead(status)
}

function addTrailers(response: ServerResponse, raw: readonly (Buffer | string)[]): void {
  const trailers: Record<string, string[]> = {}
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const [name = '', value = ''] = raw
      .slice(index, index + 2)
      .map((part) => toBuffer(part).toString('latin1'))
    const isFraming = isConnectionField(name.toLowerCase()) || /^content-length$/i.test(name)
    if (!isFraming) trailers[name] = [...(trailers[name] ?? []), value]
  }
  // Node's types lack lists, which HTTP/1.1 and HTTP/2 accept.
  Reflect.apply(response.addTrailers, response, [trailers])
}

function toBuffer(part: Buffer | string): Buffer {
  return typeof part === 'string' ? Buffer.from(part, 'latin1') : part
}

function noteUpstream(
  response: ServerResponse,
  fact: Partial<NonNullable<ReturnType<typeof observationOf>>['upstream']>,
): void {
  const noted = observationOf(response)
  if (noted !== undefined) noted.upstream = { ...noted.upstream, ...fact }
}
