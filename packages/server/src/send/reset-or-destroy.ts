import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { callOriginal } from './intercept.ts'

/** Answers of applications may have no length, unlike our own. */
const madeByApplications = new WeakSet<ServerResponse>()

/**
 * Marks the answer of an application or of another server, which may have no length. Its method `destroy`
 * then resets the connection if needed.
 */
export function markApplicationResponse(response: ServerResponse): void {
  madeByApplications.add(response)
  if (response.req.httpVersionMajor === 1) response.destroy = destroyPart
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

/**
 * Destroys the response if the client closes its half of the connection. Applications expect this default of Node, while
 * a client with a closed half may still read a file.
 */
export function destroyWithClient(
  { socket, httpVersionMajor }: IncomingMessage,
  response: ServerResponse,
): void {
  if (httpVersionMajor !== 1) return
  const leave = (): void => void response.destroy()
  socket.once('end', leave)
  response.once('close', () => socket.off('end', leave))
}

function destroyPart(this: ServerResponse, error?: Error): ServerResponse {
  if (this.socket !== null && !this.destroyed) resetOrDestroy(this.socket, this, error)
  callOriginal(this, 'destroy', [error])
  return this
}
