import { Socket } from 'node:net'

/** Milliseconds that the client has to read the end of its answer. */
const lingerTime = 1000

/**
 * Closes our half of a connection, and the rest when the client has closed its own, a second later at most. Bytes that
 * arrive after a full close make the system reset the connection, and the client lose what it has not read of the
 * answer (RFC 9112 §9.6).
 *
 * @returns closes the rest at once.
 */
export function lingeringClose(socket: Socket, lastWords = ''): () => void {
  // It may linger already.
  if (socket.writable) socket.end(lastWords)
  socket.resume()
  const close = (): void => {
    // From here on, bytes from the client do not count as a sign of life.
    socket.pause()
    destroyAfterFlush(socket)
  }
  if (socket.readableEnded) close()
  socket.once('end', close)
  const deadline = setTimeout(close, lingerTime)
  socket.once('close', () => clearTimeout(deadline))
  return close
}

/** Closes a connection when everything is sent, as Node's class does it. */
export function destroyAfterFlush(socket: Socket): void {
  // oxlint-disable-next-line typescript/unbound-method -- bound right here
  Reflect.apply(Socket.prototype.destroySoon, socket, [])
}
