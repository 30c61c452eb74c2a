import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** A connection that its client wants to go on with in another protocol, and what it has sent of that. */
export interface Upgrade {
  readonly socket: Socket
  readonly head: Buffer
}

/** Uses a connection for another protocol, as listeners of Node's `upgrade` do. */
export type UpgradeHandler = (request: IncomingMessage, socket: Socket, head: Buffer) => unknown

/** Node gives a connection away before anybody knows who answers the request. */
const offered = new WeakMap<ServerResponse, Upgrade>()

/** Lets whoever answers a request take its connection instead. */
export function offerUpgrade(response: ServerResponse, upgrade: Upgrade): void {
  offered.set(response, upgrade)
}

/**
 * Takes the connection of a request that asks for it; `undefined` for any other request. The response counts as a 101 that
 * is under way until the connection is closed. No limit of time holds for the connection any more.
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
