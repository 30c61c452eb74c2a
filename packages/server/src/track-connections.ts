import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { youth } from './connection-limits.ts'
import { takeWhatHasCome } from './take-what-has-come.ts'

/** Knows which connections of a server have an answer under way. */
export interface ConnectionTracker {
  /** Notes that an answer is under way, until it is sent or its client has gone. */
  track(response: ServerResponse): void
  /**
   * Takes no new connections, and closes each as soon as nothing is under way on it: at once, after the
   * last answer, or, when it is so young that its first request is on its way, a second after it came.
   * Settles when all are closed.
   */
  drain(): Promise<void>
}

interface ConnectionState {
  readonly since: number
  answersUnderWay: number
  /** What had come when the last answer was sent: more than that is a next request. */
  bytesRead: number
  /** The last request that came. */
  asked: IncomingMessage | undefined
  /** The request of the last answer that was sent. */
  answered: IncomingMessage | undefined
}

/**
 * Watches a server's connections from now on.
 *
 * Node's own `closeIdleConnections` (and `close`, which calls it) takes an answer that is still being
 * flushed for done and cuts it off, and a connection on which nothing ever came for busy.
 */
export function trackConnections(server: Server): ConnectionTracker {
  const connections = new Map<Socket, ConnectionState>()
  let isDraining = false

  server.on('connection', (socket: Socket) => {
    const state: ConnectionState = {
      since: performance.now(),
      answersUnderWay: 0,
      bytesRead: 0,
      asked: undefined,
      answered: undefined,
    }
    connections.set(socket, state)
    socket.destroySoon = destroySoon
    // A body that breaks off after its request was answered: Node would answer a second time, with 400.
    socket.prependListener('end', () => {
      if (state.answersUnderWay === 0 && state.answered?.complete === false) socket.destroySoon()
    })
    socket.once('close', () => connections.delete(socket))
  })

  /**
   * What comes of a request's body after its connection was closed makes the system reset it, and the client lose
   * what it has not read of the answer (RFC 9112 §9.6): until the body is there only our half is closed.
   */
  function destroySoon(this: Socket): void {
    const asked = connections.get(this)?.asked
    const close = (): void => {
      // oxlint-disable-next-line typescript/unbound-method -- bound right here
      Reflect.apply(Socket.prototype.destroySoon, this, [])
    }
    if (asked === undefined || asked.complete || this.readableEnded) {
      close()
      return
    }
    this.end()
    asked.once('end', close)
    const deadline = setTimeout(close, youth)
    this.once('close', () => clearTimeout(deadline))
  }

  /** One function for all responses: a closure for each would be work on the hot path. */
  function noteEnd(this: ServerResponse): void {
    const { socket } = this.req
    const state = connections.get(socket)
    if (state === undefined) return
    state.answersUnderWay -= 1
    state.bytesRead = socket.bytesRead
    state.answered = this.req
    if (isDraining) closeIfIdle(socket, state)
  }

  return {
    track(response) {
      const state = connections.get(response.req.socket)
      if (state === undefined) return
      state.answersUnderWay += 1
      state.asked = response.req
      response.on('close', noteEnd)
    },
    async drain() {
      isDraining = true
      await takeWhatHasCome(server)
      await new Promise((resolve) => {
        // Not `server.close`: see above.
        NetServer.prototype.close.call(server, resolve)
        for (const [socket, state] of connections) closeWhenGrown(server, socket, state)
      })
      // Only to let go of Node's timer.
      server.close()
    },
  }
}

/** A client that has just connected is about to send; it was told of no limit, and would see a failure. */
function closeWhenGrown(server: Server, socket: Socket, state: ConnectionState): void {
  const rest = state.since + youth - performance.now()
  const isYoung = socket.bytesRead === 0 && rest > 0
  if (!isYoung) closeIfIdle(socket, state)
  // On a busy machine the timer is late, and what has come meanwhile is not read before it.
  else setTimeout(() => void takeWhatHasCome(server).then(() => closeIfIdle(socket, state)), rest)
}

function closeIfIdle(socket: Socket, { answersUnderWay, bytesRead }: ConnectionState): void {
  if (answersUnderWay === 0 && socket.bytesRead === bytesRead) socket.destroySoon()
}
