import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { ConnectionLimits } from '../../protocol/connection-limits.ts'
import type { StreamLimiter } from './limit-streams.ts'

/** Ends sessions whose clients are silent. */
export interface IdleSessionLimiter {
  add(session: ServerHttp2Session, socket: Socket): void
  /** Closes the sockets of sessions that are over. */
  sweep(): void
}

interface OpenSession {
  readonly socket: Socket
  /** When it was first seen to be over. */
  overSince?: number
}

/**
 * Ends a session on which nothing happens, and closes the socket of each that is over: once a client has said GOAWAY, or
 * we have, Node waits for its end of the connection, for ever.
 */
export function limitIdleSessions(limits: ConnectionLimits, streams: StreamLimiter): IdleSessionLimiter {
  const sessions = new Map<ServerHttp2Session, OpenSession>()

  const noteSilence = (session: ServerHttp2Session): void => {
    const open = [...streams.of(session)]
    if (open.length === 0 || open.some(({ writableLength }) => writableLength > 0)) {
      session.destroy()
      return
    }
    // Its answers have nothing to send yet, such as a stream of events: ask whether anybody is there.
    const deadline = setTimeout(() => session.destroy(), limits.headersTimeout).unref()
    session.ping((error) => {
      clearTimeout(deadline)
      if (error === null && !session.destroyed) listen(session)
    })
  }
  const listen = (session: ServerHttp2Session): void => {
    session.setTimeout(limits.keepAliveTimeout, () => noteSilence(session))
  }

  return {
    add(session, socket) {
      sessions.set(session, { socket })
      session.once('close', () => sessions.delete(session))
      listen(session)
    },
    sweep() {
      const now = performance.now()
      for (const [session, open] of sessions) {
        if (!session.destroyed) continue
        const { socket, overSince } = open
        // The rest of its answers may still be on the way, to a client that reads them slowly.
        const isSent = socket.writableFinished || !session.closed
        if (overSince === undefined) open.overSince = now
        else if (isSent || now - overSince > limits.socketTimeout) socket.destroy()
      }
    },
  }
}
