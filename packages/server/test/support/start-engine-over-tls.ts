import { type Engine, type EngineBinding, loadEngine } from '@serve-dist/engine'
import { afterAll } from 'vitest'
import { serveRelayedHttp2 } from '../../src/native/serve-relayed-http2.ts'
import { createEngineTransport } from '../../src/native/create-engine-transport.ts'
import type { Site } from '../../src/site/site.ts'
import type { TlsTransport } from '../../src/transport/tls/create-tls-transport.ts'
import { readTlsCredentials } from '../../src/transport/tls/tls-credentials.ts'
import type { RequestListener, TransportOptions } from '../../src/transport/transport.ts'
import { writeCertificate } from './make-certificate.ts'
import type { StartedTlsServer } from './start-tls-server.ts'

const running: TlsTransport[] = []

afterAll(async () => {
  await Promise.all(running.splice(0).map((transport) => transport.drain(0)))
})

/** Like `startTlsServer` with the native engine, which answers a site's files without the listener. */
export async function startEngineOverTls(
  listener: RequestListener,
  options: Partial<TransportOptions> = {},
  site?: Site,
): Promise<StartedTlsServer> {
  const binding = loadEngine()
  if (typeof binding === 'string') throw new TypeError(binding)
  const engines: Engine[] = []
  class WatchedEngine extends binding.Engine {
    constructor(...given: ConstructorParameters<EngineBinding['Engine']>) {
      super(...given)
      engines.push(this)
    }
  }
  const credentials = await readTlsCredentials(await writeCertificate())
  const transport = createEngineTransport(
    listener,
    { takesUploads: false, ...options },
    {
      binding: { Engine: WatchedEngine },
      threads: 2,
      encryption: { credentials, serveRelayedHttp2 },
    },
  )
  if (site !== undefined) {
    await transport.follower?.prepare(site)
    transport.follower?.swap(site)
  }
  const origin = await transport.listen({ host: '127.0.0.1', port: 0 })
  running.push(transport)
  return {
    ...transport,
    port: Number(new URL(origin).port),
    connections: async () => engines[0]?.connections() ?? 0,
  }
}
