import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Our own answers have a length; these may have none. */
const madeByApplications = new WeakSet<ServerResponse>()

/** Marks an answer that an application makes, which may leave its length open. */
export function markApplicationResponse(response: ServerResponse): void {
  madeByApplications.add(response)
}

/** Whether a client takes the close of its connection for the end of an answer that has begun (RFC 9112 §6.3). */
export function isCloseDelimited(response: ServerResponse | undefined): boolean {
  if (response === undefined || !madeByApplications.has(response)) return false
  if (response.chunkedEncoding || response.hasHeader('Content-Length')) return false
  // Node adds the length to an answer that is ended in one piece; with HTTP/1.0, pieces may have been sent before.
  return response.req.httpVersionMinor === 0 || !response.writableEnded
}

/**
 * Closes a connection, maybe in the middle of an answer: by a reset where the client would take a plain close for the
 * end of the answer, and so a part for the whole.
 *
 * @param response - the last one of the connection.
 */
export function resetOrDestroy(socket: Socket, response: ServerResponse | undefined, failure?: Error): void {
  const isPart = response?.headersSent === true && response.socket === socket && !response.writableFinished
  if (isPart && isCloseDelimited(response) && canBeReset(socket)) socket.resetAndDestroy()
  else socket.destroy(failure)
}

/** TLS ends with a message of its own, a unix socket has no reset, and a socket that has ended cannot be reset. */
function canBeReset(socket: Socket): boolean {
  return socket.remoteFamily !== undefined && !('encrypted' in socket) && socket.writable
}
