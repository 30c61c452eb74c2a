import { createServer, type ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { connectionLimits } from '../protocol/connection-limits.ts'
import { http2ServerOptions, type Http2Sessions, serveHttp2 } from '../transport/tls/serve-http2.ts'
import type { RequestListener, TransportOptions } from '../transport/transport.ts'

/** HTTP/2 sessions for relayed streams, at most one for each client. */
export interface RelayedHttp2Sessions extends Pick<Http2Sessions, 'takeUploads' | 'close' | 'stop'> {
  /** Reads requests from Node's end of a connection. */
  readonly accept: (socket: Socket) => void
}

/**
 * Creates an HTTP/2 server of Node that does not listen and has the limits and refusals of
 * `createTlsTransport`.
 */
export function serveRelayedHttp2(
  listener: RequestListener,
  options: TransportOptions,
): RelayedHttp2Sessions {
  const server = createServer(http2ServerOptions(options.limits ?? connectionLimits))
  const sessions = serveHttp2(server, listener, options)
  let opened: ServerHttp2Session | undefined
  server.on('session', (session) => {
    opened = session
  })
  return {
    ...sessions,
    accept(socket) {
      server.emit('connection', socket)
      if (opened !== undefined) sessions.watchSilence(opened, socket)
      opened = undefined
    },
  }
}
