import { OperatorError } from '@serve-dist/manifest'
import { createRedirectTransport } from './create-redirect-transport.ts'
import { listen } from './listen.ts'
import type { Transport, TransportWatcher } from './transport.ts'

/** Where plain HTTP is taken. */
export interface RedirectAddress {
  readonly host: string
  /** 0 picks a free one; `undefined`: nowhere. */
  readonly port: number | undefined
  /** The only ones that are sent on. */
  readonly allowHosts: readonly string[] | undefined
  /** Who is told of them. */
  readonly watcher: TransportWatcher
}

/** A listener for plain HTTP. */
export interface RedirectListener {
  readonly transport: Transport
  /** Where it is reached. */
  readonly url: string
}

/**
 * Listens for plain HTTP, if it is to be taken, and sends every request on to where a transport listens already.
 *
 * @throws OperatorError when the address cannot be had.
 */
export async function listenForRedirects(
  to: Transport,
  { host, port, allowHosts: hosts, watcher }: RedirectAddress,
): Promise<RedirectListener | undefined> {
  if (port === undefined) return undefined
  // Once it stops it has no address any more, and requests may still come here.
  const address = to.server.address()
  const tlsPort = typeof address === 'object' && address !== null ? address.port : 443
  const transport = createRedirectTransport(tlsPort, { hosts, watcher })
  const origin = await listen(transport, { host, port }).catch((error: unknown) => {
    if (!(error instanceof OperatorError)) throw error
    throw new OperatorError('SD_LISTEN_FAILED', error.message.replaceAll('--port', '--redirect-http'), {
      cause: error,
    })
  })
  return { transport, url: `${origin}/` }
}
