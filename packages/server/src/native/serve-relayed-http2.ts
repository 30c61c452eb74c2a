import { createServer, type ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { connectionLimits } from '../protocol/connection-limits.ts'
import { http2ServerOptions, type Http2Sessions, serveHttp2 } from '../transport/tls/serve-http2.ts'
import type { RequestListener, TransportOptions } from '../transport/transport.ts'

/** HTTP/2 sessions for relayed streams, at most one for each client. */
export interface RelayedHttp2Sessions extends Pick<Http2Sessions, 'takeUploads'> {
  /** Reads requests from Node's end of a connection. */
  readonly accept: (socket: Socket) => void
  /** Ends each session after its running requests, at the latest after the grace period in milliseconds. */
  readonly drain: (gracePeriod: number) => () => void
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
    takeUploads: sessions.takeUploads,
    accept(socket) {
      server.emit('connection', socket)
      if (opened !== undefined) sessions.watchSilence(opened, socket)
      opened = undefined
    },
    drain(gracePeriod) {
      sessions.close()
      const deadline = setTimeout(sessions.breakOff, gracePeriod)
      return () => {
        clearTimeout(deadline)
        sessions.stop()
      }
    },
  }
}
