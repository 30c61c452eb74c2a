import { createRedirectTransport } from './create-redirect-transport.ts'
import { listen } from './listen.ts'
import type { Transport } from './transport.ts'

/** Where plain HTTP is taken, and which server takes HTTPS. */
export interface RedirectAddress {
  readonly host: string
  readonly port: number
  readonly to: Transport
}

/**
 * Listens for plain HTTP, and sends every request on to HTTPS.
 *
 * @throws ListenError when the address cannot be had.
 */
export async function listenForRedirects({ host, port, to }: RedirectAddress): Promise<Transport> {
  const transport = createRedirectTransport(() => {
    const address = to.server.address()
    return typeof address === 'object' && address !== null ? address.port : 443
  })
  await listen(transport, { host, port })
  return transport
}
