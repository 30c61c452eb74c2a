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
import { Http2Request } from './http2-request.ts'
import { Http2Response } from './http2-response.ts'
import { limitSession } from './limit-session.ts'
import { limitIdleSessions } from './limit-idle-sessions.ts'
import { limitStreams } from './limit-streams.ts'
import { refusalOverHttp2 } from './refusal-over-http2.ts'

/** The sessions of a server. */
export interface Http2Sessions {
  /** Ends a session on whose socket nothing happens. */
  readonly watchSilence: (session: ServerHttp2Session, socket: Socket) => void
  /** Says GOAWAY to each session, new ones too, which may ask for something first. */
  readonly close: () => void
  /** Ends answers under way: clients may take a part for the whole where the connection alone ends (RFC 9113 §8.1). */
  readonly breakOff: () => void
  /** Holds nothing to its limits any more. */
  readonly stop: () => void
}

/** What a server has to be made with for `serveHttp2`. */
export function http2ServerOptions(
  limits: ConnectionLimits,
): ServerOptions<typeof IncomingMessage, typeof ServerResponse, typeof Http2Request, typeof Http2Response> {
  return {
    ...http2Limits,
    // Fields count as over HTTP/1.1, and 32 bytes more for each (RFC 9113 §6.5.2).
    settings: { ...http2Limits.settings, maxHeaderListSize: limits.maxHeaderSize },
    Http2ServerRequest: Http2Request,
    Http2ServerResponse: Http2Response,
  }
}

/** Gives the requests of a server to a listener, within limits. */
export function serveHttp2(
  server: Http2Server | Http2SecureServer,
  listener: RequestListener,
  { limits = connectionLimits, takesUploads, watcher }: TransportOptions,
): Http2Sessions {
  const refusals = { 400: createRefusingListener(400, watcher), 431: createRefusingListener(431, watcher) }
  const sessions = new Set<ServerHttp2Session>()
  const streams = limitStreams(limits, takesUploads)
  const silence = limitIdleSessions(limits, streams)
  let isClosing = false

  server.on('session', (session: ServerHttp2Session) => {
    sessions.add(session)
    limitSession(session)
    session.once('close', () => sessions.delete(session))
    if (isClosing) closeAfterRequest(session)
  })
  server.on('stream', (stream) => {
    if (stream.session !== undefined) streams.add(stream, stream.session)
  })
  server.on('request', (request: Http2Request, response: Http2Response) => {
    if (response.stream.closed) return
    // A stream that nobody reads Node closes as soon as the answer is written, by a RST_STREAM that overtakes its END_STREAM
    // where the connection is busy (RFC 9113 §8.1). One whose request has ended has nothing to be read.
    if (response.stream.endAfterHeaders) response.stream.resume()
    streams.observe(request, response)
    const refusal = refusalOverHttp2(request, limits.maxHeaderSize)
    // Node's compatibility API has what a handler for HTTP/1.1 uses.
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
    stop: () => clearInterval(sweeping),
  }
}

/** GOAWAY, then the end after the last stream; a client that has just connected gets time for its first request. */
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
