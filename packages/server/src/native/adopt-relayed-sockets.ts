import type { Engine, EngineListener, HandedConnection } from '@serve-dist/engine'
import type { ServerResponse } from 'node:http'
import { type Server, Socket } from 'node:net'
import type { RelayedHttp2Sessions } from './serve-relayed-http2.ts'
import { tlsSocketProperties } from './tls-socket-properties.ts'

/** Connections that the engine relays to Node. */
export interface RelayedSockets extends Pick<EngineListener, 'handed' | 'closed'> {
  /** Returns a connection to the engine after the answer is complete. */
  readonly returnAfter: (response: ServerResponse) => void
  /** Settles when all connections are closed. */
  readonly allClosed: () => Promise<void>
}

/**
 * Adds Node's end of each relayed connection to a server that does not listen, or to its HTTP/2 sessions.
 */
export function adoptRelayedSockets(
  server: Server,
  sessions: Pick<RelayedHttp2Sessions, 'accept'> | undefined,
  engine: () => Pick<Engine, 'done' | 'reset'>,
): RelayedSockets {
  const sockets = new Map<number, Socket>()
  const ids = new WeakMap<Socket, number>()

  /** A shared function instead of a closure per response. */
  function returnToEngine(this: ServerResponse): void {
    const { socket } = this.req
    const id = ids.get(socket)
    // If Node ends the connection, the engine notices it.
    if (id !== undefined && socket.writable) engine().done(id, socket.bytesWritten)
  }

  return {
    handed({ id, fd, address, port, protocol, encryption }) {
      const allowHalfOpen = protocol === 'http1'
      const socket = new Socket({ fd, readable: true, writable: true, allowHalfOpen })
      Object.defineProperties(socket, peerProperties(address, port))
      if (encryption !== undefined) Object.defineProperties(socket, tlsSocketProperties(encryption))
      sockets.set(id, socket)
      socket.once('close', () => sockets.delete(id))
      if (protocol === 'http2') {
        sessions?.accept(socket)
        return
      }
      socket.resetAndDestroy = () => {
        engine().reset(id)
        return socket.destroy()
      }
      if (encryption !== undefined) {
        socket.destroy = (error) => {
          // A close over TLS sends close_notify, which would make a truncated answer look complete.
          if (!socket.destroyed && !socket.writableFinished) engine().reset(id)
          return destroy(socket, error)
        }
      }
      ids.set(socket, id)
      server.emit('connection', socket)
    },
    closed(id) {
      const socket = sockets.get(id)
      if (socket === undefined) return
      destroy(socket, Object.assign(new Error('the client closed the connection'), { code: 'ECONNRESET' }))
    },
    returnAfter(response) {
      // Runs before a stopping server ends the connection.
      response.prependOnceListener('close', returnToEngine)
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

function destroy(socket: Socket, error?: Error): Socket {
  // oxlint-disable-next-line typescript/unbound-method -- bound right here
  return Reflect.apply(Socket.prototype.destroy, socket, [error])
}

/** Returns the peer properties of a TCP socket. A unix socket lacks them. */
function peerProperties(
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
