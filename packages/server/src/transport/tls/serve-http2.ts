import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  constants,
  type Http2SecureServer,
  type Http2Server,
  type ServerHttp2Session,
  type ServerOptions,
} from 'node:http2'
import type { Socket } from 'node:net'
import {
  type ConnectionLimits,
  connectionLimits,
  newConnectionGrace,
} from '../../protocol/connection-limits.ts'
import { http2Limits } from '../../protocol/http2-limits.ts'
import { createRefusingListener } from '../create-refusing-listener.ts'
import type { RequestListener, TransportOptions } from '../transport.ts'
import { checkStreamFields } from './check-stream-fields.ts'
import { Http2Request } from './http2-request.ts'
import { Http2Response } from './http2-response.ts'
import { limitSession } from './limit-session.ts'
import { limitIdleSessions } from './limit-idle-sessions.ts'
import { limitStreams } from './limit-streams.ts'
import { refusalOverHttp2 } from './refusal-over-http2.ts'

/** The sessions of a server. */
export interface Http2Sessions {
  /** Ends a session when its socket is idle. */
  readonly watchSilence: (session: ServerHttp2Session, socket: Socket) => void
  /** Sends GOAWAY to each session. A new session may send one request first. */
  readonly close: () => void
  /**
   * Ends running answers. Clients may mistake a part for the whole if only the connection ends (RFC 9113
   * §8.1).
   */
  readonly breakOff: () => void
  /** Gives requests the time of uploads from now on. */
  readonly takeUploads: () => void
  /** Stops enforcing limits. */
  readonly stop: () => void
}

/** Returns the server options that `serveHttp2` requires. */
export function http2ServerOptions(
  limits: ConnectionLimits,
): ServerOptions<typeof IncomingMessage, typeof ServerResponse, typeof Http2Request, typeof Http2Response> {
  return {
    ...http2Limits,
    // Fields count as over HTTP/1.1, plus 32 bytes each (RFC 9113 §6.5.2).
    settings: { ...http2Limits.settings, maxHeaderListSize: limits.maxHeaderSize },
    Http2ServerRequest: Http2Request,
    Http2ServerResponse: Http2Response,
  }
}

/** Passes the requests of a server to a listener, within limits. */
export function serveHttp2(
  server: Http2Server | Http2SecureServer,
  listener: RequestListener,
  { limits = connectionLimits, takesUploads: takesUploadsAtStart, watcher }: TransportOptions,
): Http2Sessions {
  let takesUploads = takesUploadsAtStart
  const refusals = { 400: createRefusingListener(400, watcher), 431: createRefusingListener(431, watcher) }
  const sessions = new Set<ServerHttp2Session>()
  const streams = limitStreams(limits, () => (takesUploads ? limits.uploadTimeout : limits.requestTimeout))
  const silence = limitIdleSessions(limits, streams)
  let isClosing = false

  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session)
    limitSession(session)
    session.once('close', () => sessions.delete(session))
    if (isClosing) closeAfterRequest(session)
  })
  server.on('stream', (stream) => {
    checkStreamFields(stream)
    if (stream.session !== undefined) streams.add(stream, stream.session)
  })
  server.on('request', (request: Http2Request, response: Http2Response) => {
    if (response.stream.closed) return
    // Node closes an unread stream after the answer. On a busy connection, its RST_STREAM overtakes the
    // END_STREAM (RFC 9113 §8.1). Reading an ended request to its end prevents this.
    if (response.stream.endAfterHeaders) response.stream.resume()
    streams.observe(request, response)
    const refusal = refusalOverHttp2(request, limits.maxHeaderSize)
    // Node's compatibility API provides what a handler for HTTP/1.1 uses.
    const answer = refusal === undefined ? listener : refusals[refusal]
    Reflect.apply(answer, undefined, [request, response])
  })
  const sweeping = setInterval(() => {
    streams.sweep()
    silence.sweep()
  }, limits.connectionsCheckingInterval).unref()

  return {
    watchSilence: (session, socket) => silence.add(session, socket),
    close() {
      isClosing = true
      for (const session of sessions) closeAfterRequest(session)
    },
    breakOff() {
      for (const session of sessions) {
        for (const stream of streams.of(session)) stream.close(constants.NGHTTP2_INTERNAL_ERROR)
      }
    },
    takeUploads() {
      takesUploads = true
    },
    stop: () => clearInterval(sweeping),
  }
}

/**
 * Sends GOAWAY and ends the session after its last stream. A new client gets time for its first request.
 */
function closeAfterRequest(session: ServerHttp2Session): void {
  const hasRequest = (session.state.lastProcStreamID ?? 0) > 0
  if (hasRequest) {
    session.close()
    return
  }
  const timer = setTimeout(() => session.close(), newConnectionGrace).unref()
  session.once('stream', () => {
    clearTimeout(timer)
    session.close()
  })
}
