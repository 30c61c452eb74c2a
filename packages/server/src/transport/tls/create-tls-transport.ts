import { constants as cryptoConstants } from 'node:crypto'
import { constants as http2Constants, createSecureServer, type ServerHttp2Session } from 'node:http2'
import { Server as NetServer, type Socket } from 'node:net'
import type { SecureContextOptions, TLSSocket } from 'node:tls'
import { connectionLimits, newConnectionGrace } from '../../protocol/connection-limits.ts'
import { createHttpTransport } from '../create-http-transport.ts'
import { Http1TlsResponse } from './http1-tls-response.ts'
import { http2Limits } from '../../protocol/http2-limits.ts'
import { Http2Request } from './http2-request.ts'
import { Http2Response } from './http2-response.ts'
import { limitSession } from './limit-session.ts'
import { limitSilence } from './limit-silence.ts'
import { limitStreams } from './limit-streams.ts'
import { refuseWith } from '../refuse-with.ts'
import { refusalOverHttp2 } from './refusal-over-http2.ts'
import type { TlsCredentials } from './tls-credentials.ts'
import { drainBacklog } from '../drain-backlog.ts'
import { listen } from '../listen.ts'
import type { RequestListener, Transport, TransportOptions } from '../transport.ts'

/** A transport whose certificate can be replaced while it listens. */
export interface TlsTransport extends Transport {
  /** New connections get this certificate; open ones go on. */
  readonly setCredentials: (credentials: TlsCredentials) => void
}

/** HTTP/2 and HTTP/1.1 over TLS on one port, as the client chooses (ALPN). */
export function createTlsTransport(
  listener: RequestListener,
  options: TransportOptions,
  credentials: TlsCredentials,
): TlsTransport {
  // HTTP/1.1 works as without TLS, except that large bodies are written in slices.
  const http1 = createHttpTransport(listener, { ...options, responseClass: Http1TlsResponse })
  const { limits = connectionLimits } = options
  const refusals = { 400: refuseWith(400, options.watcher), 431: refuseWith(431, options.watcher) }
  const sessions = new Set<ServerHttp2Session>()
  const streams = limitStreams(limits, options.takesUploads)
  const silence = limitSilence(limits, streams)
  const sockets = new Set<Socket>()
  const handshaking = new Map<string, Socket>()
  // Node does not say which socket a TLS socket wraps: tell them by the peer, which a unix socket's has no name for.
  const isHandshaking = (socket: Socket): boolean =>
    socket.remotePort === undefined ? socket.bytesRead === 0 : handshaking.get(peerOf(socket)) === socket
  let isClosing = false

  const server = createSecureServer({
    ...secureContextOf(credentials),
    ...http2Limits,
    // Fields count as over HTTP/1.1, and 32 bytes more for each (RFC 9113 §6.5.2).
    settings: { ...http2Limits.settings, maxHeaderListSize: limits.maxHeaderSize },
    Http2ServerRequest: Http2Request,
    Http2ServerResponse: Http2Response,
    ALPNCallback: ({ protocols }) => ['h2', 'http/1.1'].find((ours) => protocols.includes(ours)),
    handshakeTimeout: limits.headersTimeout,
  })
  server.maxConnections = limits.maximumConnections
  server.on('drop', () => options.watcher?.noteDrop())
  server.on('listening', () => http1.server.emit('listening'))
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket)
    sockets.add(socket)
    handshaking.set(peer, socket)
    socket.once('close', () => {
      sockets.delete(socket)
      if (handshaking.get(peer) === socket) handshaking.delete(peer)
    })
  })

  // 1. HTTP/1.1: clients that did not ask for HTTP/2.
  server.on('unknownProtocol', (socket: TLSSocket) => {
    socket.setNoDelay()
    socket.allowHalfOpen = true
    http1.server.emit('connection', socket)
  })

  // 2. HTTP/2.
  let opened: ServerHttp2Session | undefined
  server.on('session', (session) => {
    opened = session
    sessions.add(session)
    limitSession(session)
    session.once('close', () => sessions.delete(session))
    if (isClosing) closeAfterRequest(session)
  })
  server.on('secureConnection', (socket: TLSSocket) => {
    handshaking.delete(peerOf(socket))
    if (opened !== undefined) silence.add(opened, socket)
    opened = undefined
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
    scheme: 'https',
    server,
    listen: (address) => listen({ server, scheme: 'https' }, address),
    setCredentials: (next) => server.setSecureContext(secureContextOf(next)),
    async drain(gracePeriod) {
      isClosing = true
      const deadline = setTimeout(() => {
        // The system may hand over queued connections after this.
        server.on('connection', (socket: Socket) => socket.destroy())
        // Clients may take a part for the whole where the connection alone ends (RFC 9113 §8.1).
        for (const session of sessions) {
          for (const stream of streams.of(session)) stream.close(http2Constants.NGHTTP2_INTERNAL_ERROR)
        }
        setTimeout(() => destroyAll(sockets), lastWordsTime)
      }, gracePeriod)
      await drainBacklog(server)
      const closed = new Promise((resolve) => {
        // Not `server.close`: since Node 24 it also ends sessions whose first request is on its way.
        NetServer.prototype.close.call(server, resolve)
      })
      const http1Closed = http1.drain(gracePeriod)
      for (const session of sessions) closeAfterRequest(session)
      setTimeout(() => destroyAll([...sockets].filter(isHandshaking)), newConnectionGrace).unref()
      await Promise.all([http1Closed, closed])
      clearTimeout(deadline)
      clearInterval(sweeping)
    },
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

/** Milliseconds for the frames that end streams to leave. */
const lastWordsTime = 100

function destroyAll(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.destroy()
}

function peerOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

/** Node's default ciphers and groups have no broken ones; for others, put a proxy in front. */
function secureContextOf({ cert, key }: TlsCredentials): SecureContextOptions {
  return {
    cert,
    key,
    minVersion: 'TLSv1.2',
    // Renegotiation costs the server more than the client.
    secureOptions: cryptoConstants.SSL_OP_NO_RENEGOTIATION,
  }
}
