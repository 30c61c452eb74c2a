import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Whether a client sees that an answer is not whole when its connection is closed (RFC 9112 §8). */
export function showsItsEnd(response: ServerResponse | undefined): boolean {
  return response?.chunkedEncoding === true || response?.hasHeader('Content-Length') === true
}

/**
 * Closes a connection, maybe in the middle of an answer: by a reset, where the client would take the close for the end
 * of the answer, and a part for the whole.
 *
 * @param response - the last one of the connection.
 */
export function cutOff(socket: Socket, response: ServerResponse | undefined, failure?: Error): void {
  const isPart = response?.headersSent === true && response.socket === socket && !response.writableFinished
  if (isPart && !showsItsEnd(response) && canBeReset(socket)) socket.resetAndDestroy()
  else socket.destroy(failure)
}

/** TLS tells its end by a message of its own, and a unix socket knows no reset. */
function canBeReset(socket: Socket): boolean {
  return socket.remoteFamily !== undefined && !('encrypted' in socket)
}
