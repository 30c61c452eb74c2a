import { OperatorError } from '@serve-dist/manifest'
import cluster from 'node:cluster'
import { chmod } from 'node:fs/promises'
import type { ListenOptions, Server } from 'node:net'
import { isMainThread } from 'node:worker_threads'
import { removeStaleSocket } from './remove-stale-socket.ts'

/** The address to listen on. */
export type ListenAddress = (TcpAddress | SocketAddress | InheritedAddress) & {
  /**
   * The descriptor of the socket that the primary process created for this worker; for the native engine.
   */
  readonly given?: number
}

interface TcpAddress {
  /** 0 selects a free port. */
  readonly port: number
  /** `*` listens on all addresses, including IPv6 if available. */
  readonly host: string
  /**
   * The flag that sets it, for error messages.
   * @default '--port'
   */
  readonly flag?: string
}

/** A unix socket. */
interface SocketAddress {
  readonly socket: string
  /** The permissions of the socket's file. */
  readonly socketMode: number
}

/** A socket from a service manager. */
interface InheritedAddress {
  /** Its descriptor; in a worker, the descriptor in the primary process. */
  readonly descriptor: number
}

/** A named pipe of Windows is not a file path. */
const socketPathLimits: Readonly<Record<string, number>> = { darwin: 103, win32: Number.POSITIVE_INFINITY }

/**
 * The maximum length of a socket path in bytes. libuv in Node 20 truncates longer paths and listens there.
 */
export const longestSocketPath: number = socketPathLimits[process.platform] ?? 107

/**
 * Makes a server listen.
 *
 * @returns the origin without a slash at its end; for a unix socket in the syntax of nginx.
 * @throws OperatorError if the address is in use, not permitted, or not local.
 */
export async function listen(
  { server, scheme }: { readonly server: Server; readonly scheme: 'http' | 'https' },
  address: ListenAddress,
): Promise<string> {
  // The socket of a worker belongs to its primary process, and other workers may listen on it.
  if ('socket' in address && !cluster.isWorker) await removeStaleSocket(address.socket)
  // The primary process, possibly of another program, creates a worker's socket. Threads cannot set the
  // umask.
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
      // The descriptor is not a socket.
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

/** Returns the umask that gives a new socket its permissions. */
export function umaskFor(socketMode: number): number {
  return 0o777 & ~socketMode
}

function toListenOptions(address: ListenAddress): ListenOptions & { fd?: number } {
  if ('descriptor' in address) return { fd: address.descriptor }
  if ('socket' in address) return { path: address.socket }
  const { port, host } = address
  return { port, ...(host !== '*' && { host }) }
}

/** Converts an error of the system to an error for the operator. */
export function listenError(error: NodeJS.ErrnoException, address: ListenAddress): OperatorError {
  return new OperatorError('SD_LISTEN_FAILED', describeTcpError(error, address), { cause: error })
}

/** Returns the host for a URL. Clients cannot connect to unspecified addresses. */
export function reachableHost(host: string): string {
  if (host === '*' || host === '0.0.0.0' || host === '::') return 'localhost'
  // Only IPv6 addresses contain colons.
  return host.includes(':') ? `[${host}]` : host
}

function describeTcpError({ code, message }: NodeJS.ErrnoException, address: ListenAddress): string {
  if ('descriptor' in address) return `cannot listen on the socket of LISTEN_FDS (${message})`
  if ('socket' in address) return describeSocketError(code, message, address.socket)
  const { port, flag = '--port' } = address
  const host = address.host === '*' ? 'all addresses' : address.host
  switch (code) {
    case 'EADDRINUSE':
      return `port ${port} on ${host} is in use. Stop the program that uses it, or choose another port with ${flag} (0 picks a free one).`
    case 'EACCES':
      return `this user may not listen on port ${port} of ${host}. Choose one from 1024 up with ${flag}.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is not an address of this machine. Choose one with ${flag === '--ops' ? flag : '--host'} (0.0.0.0 listens on all).`
    default:
      return `cannot listen on port ${port} of ${host}: ${message}`
  }
}

function describeSocketError(code: string | undefined, message: string, socket: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return `a server already listens on ${socket}. Stop it, or choose another path with --socket.`
    // libuv's codes for a missing folder and for a long path.
    case 'EACCES':
    case 'ENOENT':
      return `cannot create ${socket}: its folder does not exist, or this user may not write to it. Choose another path with --socket.`
    case 'EINVAL':
    case 'ENAMETOOLONG':
      return `cannot create ${socket}: the path of a socket has at most ${longestSocketPath} bytes. Choose a shorter one with --socket.`
    default:
      return `cannot listen on ${socket}: ${message}`
  }
}
