import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import type { ConnectionLimits } from '../../protocol/connection-limits.ts'
import type { StreamLimiter } from './limit-streams.ts'

/** Ends sessions of silent clients. */
export interface IdleSessionLimiter {
  add(session: ServerHttp2Session, socket: Socket): void
  /** Closes the sockets of finished sessions. */
  sweep(): void
}

interface OpenSession {
  readonly socket: Socket
  /** The time when the session was first found to be finished. */
  overSince?: number
}

/**
 * Ends idle sessions and closes the sockets of finished ones. After a GOAWAY of either side, Node would
 * wait endlessly for the client to close the connection.
 */
export function limitIdleSessions(limits: ConnectionLimits, streams: StreamLimiter): IdleSessionLimiter {
  const sessions = new Map<ServerHttp2Session, OpenSession>()

  const noteSilence = (session: ServerHttp2Session): void => {
    const open = [...streams.of(session)]
    if (open.length === 0 || open.some(({ writableLength }) => writableLength > 0)) {
      session.destroy()
      return
    }
    // The running answers have nothing to send, such as event streams: check whether the client is alive.
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
        // A slow client may still read the rest of its answers.
        const isSent = socket.writableFinished || !session.closed
        if (overSince === undefined) open.overSince = now
        else if (isSent || now - overSince > limits.socketTimeout) socket.destroy()
      }
    },
  }
}
