import { Socket } from 'node:net'

/** Milliseconds for the client to read the end of its answer. */
const lingerTime = 1000

/**
 * Closes our half of a connection, and the other half when the client closes it, at most a second later. If
 * bytes arrive after a full close, the system resets the connection. The client would lose the unread part of
 * the answer (RFC 9112 §9.6).
 *
 * @returns a function that closes the other half immediately.
 */
export function lingeringClose(socket: Socket, lastWords = ''): () => void {
  // The connection may linger already.
  if (socket.writable) socket.end(lastWords)
  socket.resume()
  const close = (): void => {
    // From here on, bytes from the client do not postpone a timeout.
    socket.pause()
    destroyAfterFlush(socket)
  }
  if (socket.readableEnded) close()
  socket.once('end', close)
  const deadline = setTimeout(close, lingerTime)
  socket.once('close', () => clearTimeout(deadline))
  return close
}

/** Closes a connection after everything is sent, like Node's class. */
export function destroyAfterFlush(socket: Socket): void {
  // oxlint-disable-next-line typescript/unbound-method -- bound right here
  Reflect.apply(Socket.prototype.destroySoon, socket, [])
}
