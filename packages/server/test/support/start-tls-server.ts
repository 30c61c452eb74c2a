import { promisify } from 'node:util'
import { afterAll } from 'vitest'
import { createTlsTransport, type TlsTransport } from '../../src/transport/tls/create-tls-transport.ts'
import { readTlsCredentials } from '../../src/transport/tls/tls-credentials.ts'
import type { Site } from '../../src/site/site.ts'
import type { RequestListener, TransportOptions } from '../../src/transport/transport.ts'
import { writeCertificate } from './make-certificate.ts'
import { startEngineOverTls } from './start-engine-over-tls.ts'
import { isNative } from './tested-engine.ts'

/** A listening transport. */
export interface StartedTlsServer extends TlsTransport {
  readonly port: number
  /** Returns the number of open client connections. */
  readonly connections: () => Promise<number>
}

const running: TlsTransport[] = []

afterAll(async () => {
  await Promise.all(running.splice(0).map((transport) => transport.drain(0)))
})

/**
 * Starts a listener over TLS on a free port until the end of the test file.
 *
 * @param site - the files that the native engine answers without the listener
 */
export async function startTlsServer(
  listener: RequestListener,
  options: Partial<TransportOptions> = {},
  site?: Site,
): Promise<StartedTlsServer> {
  if (isNative) return await startEngineOverTls(listener, options, site)
  const credentials = await readTlsCredentials(await writeCertificate())
  const transport = createTlsTransport(listener, { takesUploads: false, ...options }, credentials)
  const origin = await transport.listen({ host: '127.0.0.1', port: 0 })
  running.push(transport)
  const { server } = transport
  return {
    ...transport,
    port: Number(new URL(origin).port),
    connections: () => promisify(server.getConnections.bind(server))(),
  }
}
