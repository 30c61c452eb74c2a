import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Our own answers tell their lengths. */
const madeByApplications = new WeakSet<ServerResponse>()

/** Tells that an answer is made by an application, which may leave its length open. */
export function noteApplication(response: ServerResponse): void {
  madeByApplications.add(response)
}

/** Whether a client takes the close of its connection for the end of an answer that has begun (RFC 9112 §6.3). */
export function endsWithConnection(response: ServerResponse | undefined): boolean {
  if (response === undefined || !madeByApplications.has(response)) return false
  if (response.chunkedEncoding || response.hasHeader('Content-Length')) return false
  // Of what is ended in one piece Node tells the length; HTTP/1.0 may have got pieces before the end.
  return response.req.httpVersionMinor === 0 || !response.writableEnded
}

/**
 * Closes a connection, maybe in the middle of an answer: by a reset, where the client would take the close for the end
 * of the answer, and a part for the whole.
 *
 * @param response - the last one of the connection.
 */
export function cutOff(socket: Socket, response: ServerResponse | undefined, failure?: Error): void {
  const isPart = response?.headersSent === true && response.socket === socket && !response.writableFinished
  if (isPart && endsWithConnection(response) && canBeReset(socket)) socket.resetAndDestroy()
  else socket.destroy(failure)
}

/** TLS tells its end by a message of its own, a unix socket knows no reset, and no end may be under way. */
function canBeReset(socket: Socket): boolean {
  return socket.remoteFamily !== undefined && !('encrypted' in socket) && socket.writable
}
