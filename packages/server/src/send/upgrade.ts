import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A connection whose client asks for another protocol, with the first bytes of that protocol. */
export interface Upgrade {
  readonly socket: Socket
  readonly head: Buffer
}

/** Uses a connection for another protocol, like listeners of Node's `upgrade` event. */
export type UpgradeHandler = (request: IncomingMessage, socket: Socket, head: Buffer) => unknown

/** Node hands the connection over before the handler of the request is known. */
const offered = new WeakMap<ServerResponse, Upgrade>()

/** Lets the handler of a request take its connection. */
export function offerUpgrade(response: ServerResponse, upgrade: Upgrade): void {
  offered.set(response, upgrade)
}

/** Returns whether a handler can take the connection. */
export function isUpgradeOffered(response: ServerResponse): boolean {
  return offered.has(response)
}

/**
 * Takes the connection of an upgrade request; returns `undefined` for other requests. The response counts
 * as a running 101 until the connection is closed. The connection has no timeouts afterwards.
 */
export function acceptUpgrade(response: ServerResponse): Upgrade | undefined {
  const upgrade = offered.get(response)
  if (upgrade === undefined) return undefined
  const { socket } = upgrade
  response.detachSocket(socket)
  Object.defineProperties(response, {
    statusCode: { value: 101 },
    headersSent: { value: true },
    writableFinished: { value: true },
  })
  socket.setTimeout(0)
  socket.once('close', () => response.emit('close'))
  return upgrade
}
