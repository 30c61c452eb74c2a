import { type Server, type ServerResponse, STATUS_CODES } from 'node:http'
import { Server as NetServer, Socket } from 'node:net'
import { newConnectionGrace } from '../protocol/connection-limits.ts'
import { allowedMethods } from '../site/answers.ts'
import { resetOrDestroy, isCloseDelimited } from '../send/reset-or-destroy.ts'
import { destroyAfterFlush, lingeringClose } from './lingering-close.ts'
import { statusOfParseError, tunnelRefused } from '../protocol/status-of-parse-error.ts'
import { readPending, drainBacklog } from './drain-backlog.ts'

/** Tracks the connections of a server and their running answers, and closes each connection cleanly. */
export interface ConnectionTracker {
  /** Counts an answer as running until it is sent or its client disconnects. */
  track(response: ServerResponse): void
  /**
   * Accepts no new connections and closes each one when it is idle: immediately, after its last answer, or
   * a second after it was opened if its first request may be arriving. Settles when all are closed.
   */
  drain(): Promise<void>
  /** Closes all connections, including those with running answers. */
  destroyAll(): void
}

interface ConnectionState {
  readonly since: number
  answersUnderWay: number
  /** The bytes that were read when the last answer was sent. More bytes belong to the next request. */
  bytesRead: number
  /** The answer to the last request. */
  last: ServerResponse | undefined
  /** Why the connection is unreadable. */
  failure: Error | undefined
}

/** Options of `trackConnections`. */
export interface ConnectionOptions {
  /** Whether an application may wait for request bodies. */
  readonly takesUploads: () => boolean
  /** Called when the server rejects malformed bytes, or the body of an unanswered request. */
  readonly noteRefusal: (socket: Socket, failure: Error, response?: ServerResponse) => void
}

/**
 * Tracks the connections of a server.
 *
 * Node's `closeIdleConnections`, which `close` calls, cuts off an answer that is being flushed, and keeps a
 * connection that never sent anything. Node rejects a malformed body after the answer to that request, and
 * cuts off the answers to earlier requests.
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
    // Its TLS handshake ended just now.
    if (isDraining) closeAfterGrace(socket, state)
  })

  server.on('clientError', (failure: Error, socket) => {
    const state = socket instanceof Socket ? connections.get(socket) : undefined
    if (!(socket instanceof Socket) || state === undefined) socket.destroy(failure)
    else if (state.failure === undefined) {
      state.failure = failure
      endUnreadable(socket, state, failure)
    }
    // Node reports further bytes as errors. They do not show that the client still reads.
    else if (socket.writable) socket.pause()
  })

  // After CONNECT, Node detaches the connection without the listeners that running answers need.
  server.on('connect', ({ socket }) => {
    socket.on('error', () => socket.destroy())
    socket.on('timeout', () => socket.destroy())
    socket.on('drain', () => connections.get(socket)?.last?.emit('drain'))
    server.emit(
      'clientError',
      Object.assign(new Error('CONNECT is not supported'), { code: tunnelRefused }),
      socket,
    )
  })

  /** Ends an unreadable connection, or one that exceeded a time limit. */
  function endUnreadable(socket: Socket, { last, answersUnderWay }: ConnectionState, failure: Error): void {
    const status = statusOfParseError(failure)
    if (status === undefined) {
      socket.destroy(failure)
      return
    }
    // The connection is closing already.
    if (!socket.writable) return
    const isOfBody = last?.req.complete === false
    const isOfOnlyAnswer = isOfBody && answersUnderWay === 1
    if (isOfBody && answersUnderWay === 0) {
      // 1. The request has its answer and gets no second one.
      socket.destroySoon()
    } else if (answersUnderWay > 0 && status !== 408 && !(isOfOnlyAnswer && mayWaitForBody(last))) {
      // 2. Earlier requests are answered first. Nothing is read until then.
      socket.pause()
    } else if (answersUnderWay > 0 && !(isOfOnlyAnswer && !last.headersSent)) {
      // 3. A started answer is cut off because its end may never come. Earlier answers are sent.
      if (status !== 408 && !isCloseDelimited(last)) lingeringClose(socket)
      else resetOrDestroy(socket, last, failure)
    } else {
      // 4. The request has no answer.
      noteRefusal(socket, failure, isOfBody ? last : undefined)
      // RFC 9110 §15.5.6.
      const allow = status === 405 ? `Allow: ${allowedMethods}\r\n` : ''
      const refusal = formatRefusalHead(status, allow)
      // Nothing may be read after a 408, because the request could still become complete.
      if (status === 408) destroyAfterFlush(socket.end(refusal))
      else lingeringClose(socket, refusal)
    }
  }

  /** Returns whether an application may wait for a body before it answers or continues. */
  function mayWaitForBody({ writableEnded }: ServerResponse): boolean {
    return takesUploads() && !writableEnded
  }

  /** Lingers if more bytes are coming, such as a request's body. */
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

  /** A shared function instead of a closure per response. */
  function noteEnd(this: ServerResponse): void {
    const { socket } = this.req
    const state = connections.get(socket)
    if (state === undefined) return
    state.answersUnderWay -= 1
    state.bytesRead = socket.bytesRead
    // The rest of the body is not the next request.
    if (!this.req.complete) this.req.once('end', () => (state.bytesRead = socket.bytesRead))
    // Let other listeners handle the end of the answer first.
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
        // Not `server.close`, for the reason above.
        NetServer.prototype.close.call(server, resolve)
      })
      for (const [socket, state] of connections) closeAfterGrace(socket, state)
      await closed
      // A server behind TLS does not listen and closes immediately. Include connections that arrive later.
      for (const socket of connections.keys()) {
        await new Promise((resolve) => {
          socket.once('close', resolve)
        })
      }
      // Releases Node's timer.
      server.close()
    },
    destroyAll() {
      for (const [socket, { last }] of connections) resetOrDestroy(socket, last)
    },
  }
}

/** Formats a refusal without a body, after which the connection ends. */
export function formatRefusalHead(status: number, fields = ''): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields}Connection: close\r\n\r\n`
}

/** Waits for the first request of a new connection, whose client would otherwise see a failure. */
function closeAfterGrace(socket: Socket, state: ConnectionState): void {
  const rest = state.since + newConnectionGrace - performance.now()
  const isNew = socket.bytesRead === 0 && rest > 0
  if (!isNew) closeIfIdle(socket, state)
  // On a busy machine, the timer fires before bytes that have already arrived are read.
  else setTimeout(() => void readPending().then(() => closeIfIdle(socket, state)), rest)
}

function closeIfIdle(socket: Socket, { answersUnderWay, bytesRead, last }: ConnectionState): void {
  const isNextComing = socket.bytesRead !== bytesRead && last?.req.complete !== false
  if (answersUnderWay === 0 && !isNextComing) socket.destroySoon()
}
