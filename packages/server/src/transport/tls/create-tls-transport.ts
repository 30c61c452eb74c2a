import { constants as cryptoConstants } from 'node:crypto'
import { createSecureServer, type ServerHttp2Session } from 'node:http2'
import { Server as NetServer, type Socket } from 'node:net'
import { DEFAULT_MIN_VERSION, type SecureContextOptions, type TLSSocket } from 'node:tls'
import { connectionLimits, newConnectionGrace } from '../../protocol/connection-limits.ts'
import { createHttpTransport } from '../create-http-transport.ts'
import { Http1TlsResponse } from './http1-tls-response.ts'
import { http2ServerOptions, serveHttp2 } from './serve-http2.ts'
import type { TlsCredentials } from './tls-credentials.ts'
import { drainBacklog } from '../drain-backlog.ts'
import { listen } from '../listen.ts'
import type { RequestListener, Transport, TransportOptions } from '../transport.ts'

/** A transport with a replaceable certificate. */
export interface TlsTransport extends Transport {
  /** Replaces the certificate for new connections. */
  readonly setCredentials: (credentials: TlsCredentials) => void
}

/**
 * Creates a transport for HTTP/2 and HTTP/1.1 over TLS on one port. The client chooses the protocol (ALPN).
 */
export function createTlsTransport(
  listener: RequestListener,
  options: TransportOptions,
  credentials: TlsCredentials,
): TlsTransport {
  // HTTP/1.1 works as without TLS, except that large bodies are written in slices.
  const http1 = createHttpTransport(listener, { ...options, responseClass: Http1TlsResponse })
  const { limits = connectionLimits } = options
  const sockets = new Set<Socket>()
  const handshaking = new Map<string, Socket>()
  // Node does not expose the socket below a TLS socket. The peer identifies it, except for unix sockets.
  const isHandshaking = (socket: Socket): boolean =>
    socket.remotePort === undefined ? socket.bytesRead === 0 : handshaking.get(peerOf(socket)) === socket

  const server = createSecureServer({
    ...secureContextOf(credentials),
    ...http2ServerOptions(limits),
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

  // 1. HTTP/1.1, for clients without HTTP/2.
  server.on('unknownProtocol', (socket: TLSSocket) => {
    socket.setNoDelay()
    socket.allowHalfOpen = true
    http1.server.emit('connection', socket)
  })

  // 2. HTTP/2.
  const http2 = serveHttp2(server, listener, options)
  let opened: ServerHttp2Session | undefined
  server.on('session', (session) => {
    opened = session
  })
  server.on('secureConnection', (socket: TLSSocket) => {
    handshaking.delete(peerOf(socket))
    if (opened !== undefined) http2.watchSilence(opened, socket)
    opened = undefined
  })

  return {
    scheme: 'https',
    server,
    listen: (address) => listen({ server, scheme: 'https' }, address),
    takeUploadsAndUpgrades() {
      http1.takeUploadsAndUpgrades()
      http2.takeUploads()
    },
    setCredentials: (next) => server.setSecureContext(secureContextOf(next)),
    async drain(gracePeriod) {
      const deadline = setTimeout(() => {
        // The system may deliver queued connections later.
        server.on('connection', (socket: Socket) => socket.destroy())
        http2.breakOff()
        setTimeout(() => destroyAll(sockets), lastWordsTime)
      }, gracePeriod)
      await drainBacklog(server)
      const closed = new Promise((resolve) => {
        // Not `server.close`: since Node 24, it also ends sessions whose first request is arriving.
        NetServer.prototype.close.call(server, resolve)
      })
      const http1Closed = http1.drain(gracePeriod)
      http2.close()
      setTimeout(() => destroyAll([...sockets].filter(isHandshaking)), newConnectionGrace).unref()
      await Promise.all([http1Closed, closed])
      clearTimeout(deadline)
      http2.stop()
    },
  }
}

/** Milliseconds for sending the frames that end streams. */
const lastWordsTime = 100

function destroyAll(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.destroy()
}

function peerOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

/** Node's default ciphers and groups are secure. For other ones, use a reverse proxy. */
function secureContextOf({ cert, key }: TlsCredentials): SecureContextOptions {
  return {
    cert,
    key,
    // `--tls-min-v1.3` of Node requires 1.3. Versions before 1.2 are not supported.
    minVersion: DEFAULT_MIN_VERSION === 'TLSv1.3' ? 'TLSv1.3' : 'TLSv1.2',
    // Renegotiation costs the server more than the client.
    secureOptions: cryptoConstants.SSL_OP_NO_RENEGOTIATION,
  }
}
