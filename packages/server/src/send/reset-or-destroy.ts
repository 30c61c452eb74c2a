import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Answers of applications may have no length, unlike our own. */
const madeByApplications = new WeakSet<ServerResponse>()

/** Marks the answer of an application, which may have no length. */
export function markApplicationResponse(response: ServerResponse): void {
  madeByApplications.add(response)
}

/**
 * Returns whether the client interprets the close of its connection as the end of the answer (RFC 9112
 * §6.3).
 */
export function isCloseDelimited(response: ServerResponse | undefined): boolean {
  if (response === undefined || !madeByApplications.has(response)) return false
  if (response.chunkedEncoding || response.hasHeader('Content-Length')) return false
  // Node adds the length if `end` gets the whole body. With HTTP/1.0, pieces may have been sent before.
  return response.req.httpVersionMinor === 0 || !response.writableEnded
}

/**
 * Closes a connection, possibly during an answer. It resets the connection if the client would otherwise
 * mistake a part of the answer for the whole.
 *
 * @param response - the last one of the connection.
 */
export function resetOrDestroy(socket: Socket, response: ServerResponse | undefined, failure?: Error): void {
  const isPart = response?.headersSent === true && response.socket === socket && !response.writableFinished
  if (isPart && isCloseDelimited(response) && canBeReset(socket)) socket.resetAndDestroy()
  else socket.destroy(failure)
}

/** TLS has its own end message, a unix socket has no reset, and an ended socket cannot be reset. */
function canBeReset(socket: Socket): boolean {
  return socket.remoteFamily !== undefined && !('encrypted' in socket) && socket.writable
}
