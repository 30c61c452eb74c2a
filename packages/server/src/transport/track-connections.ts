import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { Server as NetServer, Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { youth } from '../protocol/connection-limits.ts'
import { cutOff, endsWithConnection } from '../send/cut-off.ts'
import { destroySoonAsNode, endLingering } from './end-lingering.ts'
import { statusOfParseError } from '../protocol/status-of-parse-error.ts'
import { readWhatHasCome, takeWhatHasCome } from './take-what-has-come.ts'

/** Knows which connections of a server have an answer under way, and how each of them ends. */
export interface ConnectionTracker {
  /** Notes that an answer is under way, until it is sent or its client has gone. */
  track(response: ServerResponse): void
  /**
   * Takes no new connections, and closes each as soon as nothing is under way on it: at once, after the
   * last answer, or, when it is so young that its first request is on its way, a second after it came.
   * Settles when all are closed.
   */
  drain(): Promise<void>
  /** Closes all connections, whatever is under way. */
  cutOffAll(): void
}

interface ConnectionState {
  readonly since: number
  answersUnderWay: number
  /** What had come when the last answer was sent: more than that is a next request. */
  bytesRead: number
  /** The answer to the last request that came. */
  last: ServerResponse | undefined
  /** Why nothing more can be read. */
  failure: Error | undefined
}

/** What connections are for, and who is told of their ends. */
export interface ConnectionOptions {
  /** Whether requests' bodies may be waited for. */
  readonly takesUploads: boolean
  /** Told of each refusal of what is no request, or of the body of one that has no other answer. */
  readonly noteRefusal: (socket: Socket, failure: Error, response?: ServerResponse) => void
}

/**
 * Watches a server's connections from now on.
 *
 * Node's own `closeIdleConnections` (and `close`, which calls it) takes an answer that is still being
 * flushed for done and cuts it off, and a connection on which nothing ever came for busy. Its own refusal of what
 * it cannot read is also sent behind the answer to the very request whose body that is, and cuts off the answers to
 * the requests before it.
 */
export function trackConnections(
  server: Server,
  { takesUploads, noteRefusal }: ConnectionOptions,
): ConnectionTracker {
  const connections = new Map<Socket, ConnectionState>()
  let isDraining = false

  server.on('connection', (socket: Socket) => {
    const state: ConnectionState = {
      since: performance.now(),
      answersUnderWay: 0,
      bytesRead: 0,
      last: undefined,
      failure: undefined,
    }
    connections.set(socket, state)
    socket.destroySoon = destroySoon
    socket.once('close', () => connections.delete(socket))
    // Its handshake of TLS took until now.
    if (isDraining) closeWhenGrown(socket, state)
  })

  server.on('clientError', (failure: Error, socket) => {
    const state = socket instanceof Socket ? connections.get(socket) : undefined
    if (!(socket instanceof Socket) || state === undefined) socket.destroy(failure)
    else if (state.failure === undefined) {
      state.failure = failure
      endUnreadable(socket, state, failure)
    }
    // What comes behind it is told as an error again; it is no sign of a client that still reads.
    else if (socket.writable) socket.pause()
  })

  /** Ends a connection of which nothing more can be read, or that took too long. */
  function endUnreadable(socket: Socket, { last, answersUnderWay }: ConnectionState, failure: Error): void {
    const status = statusOfParseError(failure)
    if (status === undefined) {
      socket.destroy(failure)
      return
    }
    // Its end is under way.
    if (!socket.writable) return
    const isOfBody = last?.req.complete === false
    const isOfOnlyAnswer = isOfBody && answersUnderWay === 1
    if (isOfBody && answersUnderWay === 0) {
      // 1. It belongs to a request that was answered: there is no second answer.
      socket.destroySoon()
    } else if (answersUnderWay > 0 && status !== 408 && !(isOfOnlyAnswer && mayWaitForBody(last))) {
      // 2. What came before it is answered first; nothing is read meanwhile.
      socket.pause()
    } else if (answersUnderWay > 0 && !(isOfOnlyAnswer && !last.headersSent)) {
      // 3. What has begun is cut off: its end may never come. What is before it is sent, where nobody takes it for whole.
      if (status !== 408 && !endsWithConnection(last)) endLingering(socket)
      else cutOff(socket, last, failure)
    } else {
      // 4. Nothing was said to it.
      noteRefusal(socket, failure, isOfBody ? last : undefined)
      const refusal = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\n\r\n`
      // Behind a 408 nothing may be read: the request could still come to its end.
      if (status === 408) destroySoonAsNode(socket.end(refusal))
      else endLingering(socket, refusal)
    }
  }

  /** Whether an application may wait for a body before it answers, or goes on. */
  function mayWaitForBody({ writableEnded }: ServerResponse): boolean {
    return takesUploads && !writableEnded
  }

  /** Where something is still coming, a request's body for instance, its connection lingers. */
  function destroySoon(this: Socket): void {
    const state = connections.get(this)
    const request = state?.last?.req
    const isBodyComing = request?.complete === false
    if (this.readableEnded || !(isBodyComing || state?.failure !== undefined)) {
      destroySoonAsNode(this)
      return
    }
    const close = endLingering(this)
    if (isBodyComing) request.once('end', close)
  }

  /** One function for all responses: a closure for each would be work on the hot path. */
  function noteEnd(this: ServerResponse): void {
    const { socket } = this.req
    const state = connections.get(socket)
    if (state === undefined) return
    state.answersUnderWay -= 1
    state.bytesRead = socket.bytesRead
    // What is still coming of its request is no next one.
    if (!this.req.complete) this.req.once('end', () => (state.bytesRead = socket.bytesRead))
    // Others are told of the answer's end first.
    if (state.failure !== undefined) process.nextTick(endUnreadable, socket, state, state.failure)
    else if (isDraining) closeIfIdle(socket, state)
  }

  return {
    track(response) {
      const state = connections.get(response.req.socket)
      if (state === undefined) return
      state.answersUnderWay += 1
      state.last = response
      response.on('close', noteEnd)
    },
    async drain() {
      await takeWhatHasCome(server)
      isDraining = true
      const closed = new Promise((resolve) => {
        // Not `server.close`: see above.
        NetServer.prototype.close.call(server, resolve)
      })
      for (const [socket, state] of connections) closeWhenGrown(socket, state)
      await closed
      // One that does not listen, as behind TLS, is closed at once. What is added meanwhile is waited for, too.
      for (const socket of connections.keys()) {
        await new Promise((resolve) => {
          socket.once('close', resolve)
        })
      }
      // Only to let go of Node's timer.
      server.close()
    },
    cutOffAll() {
      for (const [socket, { last }] of connections) cutOff(socket, last)
    },
  }
}

/** A client that has just connected is about to send; it was told of no limit, and would see a failure. */
function closeWhenGrown(socket: Socket, state: ConnectionState): void {
  const rest = state.since + youth - performance.now()
  const isYoung = socket.bytesRead === 0 && rest > 0
  if (!isYoung) closeIfIdle(socket, state)
  // On a busy machine the timer is late, and what has come meanwhile is not read before it.
  else setTimeout(() => void readWhatHasCome().then(() => closeIfIdle(socket, state)), rest)
}

function closeIfIdle(socket: Socket, { answersUnderWay, bytesRead, last }: ConnectionState): void {
  const isNextComing = socket.bytesRead !== bytesRead && last?.req.complete !== false
  if (answersUnderWay === 0 && !isNextComing) socket.destroySoon()
}
