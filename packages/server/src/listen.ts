import { isIPv6 } from 'node:net'
import type { Transport } from './transport.ts'

/** An address that could not be had; the message says why and what to do. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
}

/** Where to listen. */
export interface ListenAddress {
  /** 0 picks a free one. */
  readonly port: number
  readonly host: string
}

/**
 * Lets a transport's server listen.
 *
 * @returns the origin under which it is reached, without a slash at its end.
 * @throws ListenError when the address is in use, not allowed or not this machine's.
 */
export async function listen({ server, scheme }: Transport, { port, host }: ListenAddress): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(new ListenError(explain(error, { port, host }), { cause: error }))
    })
    server.listen(port, host, resolve)
  })
  const address = server.address()
  const actualPort = typeof address === 'object' && address !== null ? address.port : port
  return `${scheme}://${reachableName(host)}:${actualPort}`
}

/** The unspecified addresses listen everywhere, but are no place to go to. */
function reachableName(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return isIPv6(host) ? `[${host}]` : host
}

function explain({ code, message }: NodeJS.ErrnoException, { port, host }: ListenAddress): string {
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
