import { once } from 'node:events'
import { afterAll } from 'vitest'
import { createTlsTransport, type TlsTransport } from '../../src/transport/tls/create-tls-transport.ts'
import { readTlsCredentials } from '../../src/transport/tls/tls-credentials.ts'
import type { RequestListener, TransportOptions } from '../../src/transport/transport.ts'
import { writeCertificate } from './make-certificate.ts'

/** A transport that listens. */
export interface StartedTlsServer extends TlsTransport {
  readonly port: number
}

const running: TlsTransport[] = []

afterAll(async () => {
  await Promise.all(running.splice(0).map((transport) => transport.drain(0)))
})

/** Lets a listener answer over TLS on a free port until the test file is done. */
export async function startTlsServer(
  listener: RequestListener,
  options: Partial<TransportOptions> = {},
): Promise<StartedTlsServer> {
  const credentials = await readTlsCredentials(await writeCertificate())
  const transport = createTlsTransport(listener, { takesUploads: false, ...options }, credentials)
  transport.server.listen(0, '127.0.0.1')
  await once(transport.server, 'listening')
  running.push(transport)
  const address = transport.server.address()
  if (typeof address !== 'object' || address === null) throw new TypeError('listens on no port')
  return { ...transport, port: address.port }
}
