import { createHttpTransport } from '../transport/create-http-transport.ts'
import type { EngineBinding } from '@serve-dist/engine'
import type { RequestListener, Transport, TransportOptions } from '../transport/transport.ts'
import { followCertificate, type TlsPair } from './follow-certificate.ts'

/** The choice of the transport. */
interface TransportChoice {
  readonly tls: TlsPair | undefined
  /** The addon of the native engine; absent for Node's engine. */
  readonly binding: EngineBinding | undefined
  /** The number of threads of the native engine. */
  readonly threads: number
  /** The hosts to serve; the default is all hosts. */
  readonly allowHosts?: readonly string[]
  /** Called when a file has changed during an answer of the native engine. */
  readonly onProblem: (problem: Error) => void
}

/** Creates the transport for the options. A TLS transport reloads its certificate when the files change. */
export async function openTransport(
  listener: RequestListener,
  options: TransportOptions,
  { tls, binding, ...native }: TransportChoice,
): Promise<Transport> {
  if (binding !== undefined) {
    const { createEngineTransport } = await import('../native/create-engine-transport.ts')
    if (tls === undefined) return createEngineTransport(listener, options, { ...native, binding })
    const { serveRelayedHttp2 } = await import('../native/serve-relayed-http2.ts')
    const encryption = { credentials: tls.credentials, serveRelayedHttp2 }
    const transport = createEngineTransport(listener, options, { ...native, binding, encryption })
    return await followCertificate(transport, tls)
  }
  if (tls === undefined) return createHttpTransport(listener, options)
  const { createTlsTransport } = await import('../transport/tls/create-tls-transport.ts')
  return await followCertificate(createTlsTransport(listener, options, tls.credentials), tls)
}
