import { createHttpTransport } from '../transport/create-http-transport.ts'
import type { EngineBinding } from '@serve-dist/engine'
import type { RequestListener, Transport, TransportOptions } from '../transport/transport.ts'
import { followCertificate, type TlsPair } from './follow-certificate.ts'

/** Which transport it is. */
interface TransportChoice {
  readonly tls: TlsPair | undefined
  /** The addon that answers; without one, Node does. */
  readonly binding: EngineBinding | undefined
  /** Of the native engine. */
  readonly threads: number
  /** The hosts that are served; the default is all. */
  readonly allowHosts?: readonly string[]
  /** Called when a file has changed amid an answer that the listener did not give. */
  readonly onProblem: (problem: Error) => void
}

/** Makes the transport that the options ask for; over TLS its certificate follows its files. */
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
