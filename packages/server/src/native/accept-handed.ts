import type { Engine, EngineListener, HandedConnection } from '@serve-dist/engine'
import type { ServerResponse } from 'node:http'
import { type Server, Socket } from 'node:net'

/** Connections that the engine relays to Node. */
export interface HandedConnections extends Pick<EngineListener, 'handed' | 'closed'> {
  /** Gives a connection back to the engine when the answer to its request is whole. */
  readonly returnAfter: (response: ServerResponse) => void
  /** Settles when none of them is open. */
  readonly allClosed: () => Promise<void>
}

/** Makes Node's end of each handed connection one of a server that does not listen. */
export function acceptHanded(
  server: Server,
  engine: () => Pick<Engine, 'done' | 'reset'>,
): HandedConnections {
  const sockets = new Map<number, Socket>()
  const ids = new WeakMap<Socket, number>()

  /** One function for all responses. */
  function giveBack(this: ServerResponse): void {
    const { socket } = this.req
    const id = ids.get(socket)
    // Where Node ends the connection, the engine sees that end.
    if (id !== undefined && socket.writable) engine().done(id, socket.bytesWritten)
  }

  return {
    handed({ id, fd, address, port }) {
      const socket = new Socket({ fd, readable: true, writable: true, allowHalfOpen: true })
      Object.defineProperties(socket, propertiesOf(address, port))
      socket.resetAndDestroy = () => {
        engine().reset(id)
        return socket.destroy()
      }
      sockets.set(id, socket)
      ids.set(socket, id)
      socket.once('close', () => sockets.delete(id))
      server.emit('connection', socket)
    },
    closed(id) {
      const failure = Object.assign(new Error('the client has gone'), { code: 'ECONNRESET' })
      sockets.get(id)?.destroy(failure)
    },
    returnAfter(response) {
      // A server that stops ends the connection when it hears of the answer's end.
      response.prependOnceListener('close', giveBack)
    },
    async allClosed() {
      for (const socket of sockets.values()) {
        await new Promise((resolve) => {
          socket.once('close', resolve)
        })
      }
    },
  }
}

/** What a socket of TCP says of its peer; a unix socket has no name for it. */
function propertiesOf(
  address: HandedConnection['address'],
  port: HandedConnection['port'],
): PropertyDescriptorMap {
  if (address === '') return {}
  return {
    remoteAddress: { value: address },
    remotePort: { value: port },
    remoteFamily: { value: address.includes(':') ? 'IPv6' : 'IPv4' },
  }
}
