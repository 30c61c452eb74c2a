import { OperatorError } from '@serve-dist/manifest'
import cluster from 'node:cluster'
import { chmod } from 'node:fs/promises'
import type { ListenOptions, Server } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import { removeStaleSocket } from './remove-stale-socket.ts'

/** Where to listen. */
export type ListenAddress = (TcpAddress | SocketAddress | InheritedAddress) & {
  /** The descriptor under which this worker was given the socket, which its primary has made; for the native engine. */
  readonly given?: number
}

/** A port. */
interface TcpAddress {
  /** 0 picks a free one. */
  readonly port: number
  /** `*` listens on all addresses, of IPv6 too where the machine has them. */
  readonly host: string
  /**
   * The flag that chooses it, for error messages.
   * @default '--port'
   */
  readonly flag?: string
}

/** A unix socket. */
interface SocketAddress {
  readonly socket: string
  /** The permissions of its file. */
  readonly socketMode: number
}

/** A socket that a service manager has opened. */
interface InheritedAddress {
  /** Its descriptor; in a worker, that of the primary. */
  readonly descriptor: number
}

/** A named pipe of Windows is no path of a file. */
const socketPathLimits: Readonly<Record<string, number>> = { darwin: 103, win32: Number.POSITIVE_INFINITY }

/** Bytes of a unix socket's path: libuv of Node 20 truncates a longer one, and listens there. */
export const longestSocketPath: number = socketPathLimits[process.platform] ?? 107

/**
 * Makes a server listen.
 *
 * @returns its origin, without a slash at its end; a unix socket's is written as nginx has it.
 * @throws OperatorError when the address is in use, not allowed or not this machine's.
 */
export async function listen(
  { server, scheme }: { readonly server: Server; readonly scheme: 'http' | 'https' },
  address: ListenAddress,
): Promise<string> {
  // A worker's socket belongs to its primary, and other workers may listen on it.
  if ('socket' in address && !cluster.isWorker) await removeStaleSocket(address.socket)
  // The primary makes a worker's socket, and may be another program; a thread cannot set the umask.
  const setsUmask = 'socket' in address && isMainThread && !cluster.isWorker
  await new Promise<void>((resolve, reject) => {
    const fail = (error: NodeJS.ErrnoException): void => reject(listenError(error, address))
    server.once('error', fail)
    const before = setsUmask ? process.umask(umaskFor(address.socketMode)) : undefined
    try {
      server.listen(toListenOptions(address), () => {
        server.off('error', fail)
        resolve()
      })
    } catch (error) {
      // The descriptor is no socket.
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
  return `${scheme}://${reachableHost('host' in address ? address.host : actual.address)}:${actual.port}`
}

/** The umask that gives a new socket its permissions from the start. */
export function umaskFor(socketMode: number): number {
  return 0o777 & ~socketMode
}

function toListenOptions(address: ListenAddress): ListenOptions & { fd?: number } {
  if ('descriptor' in address) return { fd: address.descriptor }
  if ('socket' in address) return { path: address.socket }
  const { port, host } = address
  return { port, ...(host !== '*' && { host }) }
}

/** What an operator is told of the system's error. */
export function listenError(error: NodeJS.ErrnoException, address: ListenAddress): OperatorError {
  return new OperatorError('SD_LISTEN_FAILED', describeTcpError(error, address), { cause: error })
}

/** A host in a URL: the unspecified addresses listen everywhere, but nobody can connect to them. */
export function reachableHost(host: string): string {
  if (host === '*' || host === '0.0.0.0' || host === '::') return 'localhost'
  // Only the literal of an IPv6 address has colons.
  return host.includes(':') ? `[${host}]` : host
}

function describeTcpError({ code, message }: NodeJS.ErrnoException, address: ListenAddress): string {
  if ('descriptor' in address) return `cannot listen on the socket of LISTEN_FDS: ${message}`
  if ('socket' in address) return describeSocketError(code, message, address.socket)
  const { port, flag = '--port' } = address
  const host = address.host === '*' ? 'all addresses' : address.host
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is in use; stop what listens there, or choose another port with ${flag} (0 picks a free one)`
    case 'EACCES':
      return `this user may not listen on port ${port} of ${host}; choose one from 1024 up with ${flag}`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine; choose one with ${flag === '--ops' ? flag : '--host'} (0.0.0.0 listens on all)`
    default:
      return `cannot listen on port ${port} of ${host}: ${message}`
  }
}

function describeSocketError(code: string | undefined, message: string, socket: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return `a server already listens on ${socket}; stop it, or choose another path with --socket`
    // libuv's codes for a missing folder, and for a path that is too long.
    case 'EACCES':
    case 'ENOENT':
      return `cannot make ${socket}: its folder does not exist, or this user may not write to it; choose another path with --socket`
    case 'EINVAL':
    case 'ENAMETOOLONG':
      return `cannot make ${socket}: a socket's path has at most ${longestSocketPath} bytes; choose a shorter one with --socket`
    default:
      return `cannot listen on ${socket}: ${message}`
  }
}
