import { Socket } from 'node:net'
import { youth } from '../protocol/connection-limits.ts'

/**
 * What comes after a connection was closed makes the system reset it, and the client lose what it has not read of the
 * answer (RFC 9112 §9.6): for a second, or until the client has closed its own, only our half is closed.
 *
 * @returns what ends that sooner.
 */
export function endLingering(socket: Socket, lastWords = ''): () => void {
  // It may linger already.
  if (socket.writable) socket.end(lastWords)
  socket.resume()
  const close = (): void => {
    // Nor is what comes from here on a sign of life.
    socket.pause()
    destroySoonAsNode(socket)
  }
  if (socket.readableEnded) close()
  socket.once('end', close)
  const deadline = setTimeout(close, youth)
  socket.once('close', () => clearTimeout(deadline))
  return close
}

/** Closes it when everything is sent, whatever tracks it. */
export function destroySoonAsNode(socket: Socket): void {
  // oxlint-disable-next-line typescript/unbound-method -- bound right here
  Reflect.apply(Socket.prototype.destroySoon, socket, [])
}
