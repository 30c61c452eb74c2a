import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { Server as NetServer, Socket } from 'node:net'
import { newConnectionGrace } from '../protocol/connection-limits.ts'
import { allowedMethods } from '../site/answers.ts'
import { resetOrDestroy, isCloseDelimited } from '../send/reset-or-destroy.ts'
import { destroyAfterFlush, lingeringClose } from './lingering-close.ts'
import { statusOfParseError, tunnelRefused } from '../protocol/status-of-parse-error.ts'
import { readPending, drainBacklog } from './drain-backlog.ts'

/** Knows which connections of a server have an answer under way, and ends each of them in the right way. */
export interface ConnectionTracker {
  /** Counts an answer as under way until it is sent or its client has gone. */
  track(response: ServerResponse): void
  /**
   * Accepts no new connections, and closes each as soon as it is idle: at once, after the last answer, or, where its
   * first request may be on its way, a second after it was opened. Settles when all are closed.
   */
  drain(): Promise<void>
  /** Closes all connections, with answers under way or not. */
  destroyAll(): void
}

interface ConnectionState {
  readonly since: number
  answersUnderWay: number
  /** What was read when the last answer was sent: more than that is a next request. */
  bytesRead: number
  /** The answer to the last request. */
  last: ServerResponse | undefined
  /** Why nothing more can be read. */
  failure: Error | undefined
}

/** How connections are treated. */
export interface ConnectionOptions {
  /** Whether an application may wait for requests' bodies. */
  readonly takesUploads: boolean
  /** Called when the server refuses bytes that are no request, or the body of one that has no other answer. */
  readonly noteRefusal: (socket: Socket, failure: Error, response?: ServerResponse) => void
}

/**
 * Watches a server's connections from now on.
 *
 * Node's `closeIdleConnections` (and `close`, which calls it) cuts off an answer that it is still flushing, and keeps a
 * connection that never sent anything. Node's refusal of a malformed body follows the answer to that very request, and
 * cuts off the answers to the requests before it.
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
    // Its TLS handshake lasted until now.
    if (isDraining) closeAfterGrace(socket, state)
  })

  server.on('clientError', (failure: Error, socket) => {
    const state = socket instanceof Socket ? connections.get(socket) : undefined
    if (!(socket instanceof Socket) || state === undefined) socket.destroy(failure)
    else if (state.failure === undefined) {
      state.failure = failure
      endUnreadable(socket, state, failure)
    }
    // Node reports what comes after it as an error again; that is no sign of a client that still reads.
    else if (socket.writable) socket.pause()
  })

  // Behind CONNECT, Node leaves the connection to a tunnel, without the listeners that answers under way still need.
  server.on('connect', ({ socket }) => {
    socket.on('error', () => socket.destroy())
    socket.on('timeout', () => socket.destroy())
    socket.on('drain', () => connections.get(socket)?.last?.emit('drain'))
    server.emit(
      'clientError',
      Object.assign(new Error('no tunnels are made'), { code: tunnelRefused }),
      socket,
    )
  })

  /** Ends a connection from which nothing more can be read, or that took too long. */
  function endUnreadable(socket: Socket, { last, answersUnderWay }: ConnectionState, failure: Error): void {
    const status = statusOfParseError(failure)
    if (status === undefined) {
      socket.destroy(failure)
      return
    }
    // It is being closed already.
    if (!socket.writable) return
    const isOfBody = last?.req.complete === false
    const isOfOnlyAnswer = isOfBody && answersUnderWay === 1
    if (isOfBody && answersUnderWay === 0) {
      // 1. Its request has its answer already, and gets no second one.
      socket.destroySoon()
    } else if (answersUnderWay > 0 && status !== 408 && !(isOfOnlyAnswer && mayWaitForBody(last))) {
      // 2. The requests before it are answered first; nothing is read meanwhile.
      socket.pause()
    } else if (answersUnderWay > 0 && !(isOfOnlyAnswer && !last.headersSent)) {
      // 3. An answer that has begun is cut off, as its end may never come; those before it are sent.
      if (status !== 408 && !isCloseDelimited(last)) lingeringClose(socket)
      else resetOrDestroy(socket, last, failure)
    } else {
      // 4. It has no answer yet.
      noteRefusal(socket, failure, isOfBody ? last : undefined)
      // RFC 9110 §15.5.6.
      const allow = status === 405 ? `Allow: ${allowedMethods}\r\n` : ''
      const refusal = formatRefusalHead(status, allow)
      // After a 408 nothing may be read: the request could still become complete.
      if (status === 408) destroyAfterFlush(socket.end(refusal))
      else lingeringClose(socket, refusal)
    }
  }

  /** Whether an application may wait for a body before it answers, or goes on. */
  function mayWaitForBody({ writableEnded }: ServerResponse): boolean {
    return takesUploads && !writableEnded
  }

  /** Lingers where more bytes are coming, a request's body for instance. */
  function destroySoon(this: Socket): void {
    const state = connections.get(this)
    const request = state?.last?.req
    const isBodyComing = request?.complete === false
    if (this.readableEnded || !(isBodyComing || state?.failure !== undefined)) {
      destroyAfterFlush(this)
      return
    }
    const close = lingeringClose(this)
    if (isBodyComing) request.once('end', close)
  }

  /** One function for all responses: a closure for each would be work on the hot path. */
  function noteEnd(this: ServerResponse): void {
    const { socket } = this.req
    const state = connections.get(socket)
    if (state === undefined) return
    state.answersUnderWay -= 1
    state.bytesRead = socket.bytesRead
    // The rest of its body is no next request.
    if (!this.req.complete) this.req.once('end', () => (state.bytesRead = socket.bytesRead))
    // Other listeners hear of the answer's end first.
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
      await drainBacklog(server)
      isDraining = true
      const closed = new Promise((resolve) => {
        // Not `server.close`: see above.
        NetServer.prototype.close.call(server, resolve)
      })
      for (const [socket, state] of connections) closeAfterGrace(socket, state)
      await closed
      // Behind TLS this server does not listen, and is closed at once. Connections that come meanwhile count, too.
      for (const socket of connections.keys()) {
        await new Promise((resolve) => {
          socket.once('close', resolve)
        })
      }
      // Only to release Node's timer.
      server.close()
    },
    destroyAll() {
      for (const [socket, { last }] of connections) resetOrDestroy(socket, last)
    },
  }
}

/** A refusal without a body, behind which the connection ends. */
export function formatRefusalHead(status: number, fields = ''): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields}Connection: close\r\n\r\n`
}

/** A client that has just connected is about to send: it would see a failure. */
function closeAfterGrace(socket: Socket, state: ConnectionState): void {
  const rest = state.since + newConnectionGrace - performance.now()
  const isNew = socket.bytesRead === 0 && rest > 0
  if (!isNew) closeIfIdle(socket, state)
  // On a busy machine the timer fires late, before what has arrived meanwhile is read.
  else setTimeout(() => void readPending().then(() => closeIfIdle(socket, state)), rest)
}

function closeIfIdle(socket: Socket, { answersUnderWay, bytesRead, last }: ConnectionState): void {
  const isNextComing = socket.bytesRead !== bytesRead && last?.req.complete !== false
  if (answersUnderWay === 0 && !isNextComing) socket.destroySoon()
}
