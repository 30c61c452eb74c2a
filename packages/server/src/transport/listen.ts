import { OperatorError } from '@serve-dist/manifest'
import cluster from 'node:cluster'
import { chmod } from 'node:fs/promises'
import type { ListenOptions } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import { reachableName } from './reachable-name.ts'
import { removeStaleSocket } from './remove-stale-socket.ts'
import type { Transport } from './transport.ts'

/** Where to listen. */
export type ListenAddress = TcpAddress | SocketAddress | InheritedAddress

/** A port. */
interface TcpAddress {
  /** 0 picks a free one. */
  readonly port: number
  readonly host: string
}

/** A unix socket. */
interface SocketAddress {
  readonly socket: string
  /** The permissions of its file. */
  readonly socketMode: number
}

/** A socket that somebody else has opened. */
interface InheritedAddress {
  /** Its descriptor; in a worker, that of the primary. */
  readonly descriptor: number
}

/**
 * Lets a transport's server listen.
 *
 * @returns the origin under which it is reached, without a slash at its end; a unix socket's is written as nginx has it.
 * @throws OperatorError when the address is in use, not allowed or not this machine's.
 */
export async function listen({ server, scheme }: Transport, address: ListenAddress): Promise<string> {
  // A worker's socket is its primary's, and may be in use by other workers.
  if ('socket' in address && !cluster.isWorker) await removeStaleSocket(address.socket)
  // A worker's socket is made by its primary, which may be somebody else's; a thread cannot set it.
  const setsUmask = 'socket' in address && isMainThread && !cluster.isWorker
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => {
      reject(new OperatorError('SD_LISTEN_FAILED', explain(error, address), { cause: error }))
    }
    server.once('error', fail)
    const before = setsUmask ? process.umask(umaskFor(address.socketMode)) : undefined
    try {
      server.listen(toListenOptions(address), () => {
        server.off('error', fail)
        resolve()
      })
    } catch (error) {
      // A descriptor of another kind.
      fail(error instanceof Error ? error : new Error(String(error)))
    } finally {
      if (before !== undefined) process.umask(before)
    }
  })
  if ('socket' in address && !setsUmask) await chmod(address.socket, address.socketMode)
  const actual = server.address()
  if (actual === null || typeof actual === 'string') {
    return `${scheme}://unix:${actual ?? ''}:`
  }
  return `${scheme}://${reachableName('host' in address ? address.host : actual.address)}:${actual.port}`
}

/** With which a socket is made with its permissions, so that there is no moment with more. */
export function umaskFor(socketMode: number): number {
  return 0o777 & ~socketMode
}

function toListenOptions(address: ListenAddress): ListenOptions & { fd?: number } {
  if ('descriptor' in address) return { fd: address.descriptor }
  if ('socket' in address) return { path: address.socket }
  return { port: address.port, host: address.host }
}

function explain({ code, message }: NodeJS.ErrnoException, address: ListenAddress): string {
  if ('descriptor' in address) return `cannot listen on the socket of LISTEN_FDS: ${message}`
  if ('socket' in address) return explainSocket(code, message, address.socket)
  const { port, host } = address
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is in use; stop what listens there, or choose another port with --port (0 picks a free one)`
    case 'EACCES':
      return `port ${port} on ${host} is not allowed to this user; choose one from 1024 up with --port`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is no address of this machine; choose one with --host (0.0.0.0 listens on all)`
    default:
      return `cannot listen on port ${port} of ${host}: ${message}`
  }
}

function explainSocket(code: string | undefined, message: string, socket: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return `a server listens on ${socket}; stop it, or choose another path with --socket`
    // What libuv makes of a folder that is not there, and of a path that is too long.
    case 'EACCES':
    case 'ENOENT':
      return `cannot make ${socket}: its folder is not there, or this user may not write to it; choose another path with --socket`
    case 'EINVAL':
    case 'ENAMETOOLONG':
      return `cannot make ${socket}: a socket's path has at most 107 bytes; choose a shorter one with --socket`
    default:
      return `cannot listen on ${socket}: ${message}`
  }
}
