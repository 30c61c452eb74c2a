import { createHttpTransport } from '../transport/create-http-transport.ts'
import type { ChosenEngine } from '../native/choose-engine.ts'
import type { TlsTransport } from '../transport/tls/create-tls-transport.ts'
import type { TlsCredentials, TlsFiles } from '../transport/tls/tls-credentials.ts'
import type { RequestListener, Transport, TransportOptions } from '../transport/transport.ts'

/** A certificate that was read, and where from. */
export interface TlsPair {
  readonly files: TlsFiles
  readonly credentials: TlsCredentials
}

/** Which transport it is. */
interface TransportChoice {
  readonly tls: TlsPair | undefined
  readonly engine: ChosenEngine
  /** Of the native engine; the default is one for each core that may be used. */
  readonly threads?: number | undefined
  /** The hosts that are served; the default is all. */
  readonly allowHosts?: readonly string[]
  /** Called when a file has changed amid an answer that the listener did not give. */
  readonly onProblem: (problem: Error) => void
}

/** Makes the transport that the options ask for; over TLS its certificate follows its files. */
export async function openTransport(
  listener: RequestListener,
  options: TransportOptions,
  { tls, engine: { binding }, threads, allowHosts, onProblem }: TransportChoice,
): Promise<Transport> {
  if (binding !== undefined) {
    const [{ createEngineTransport }, { usableCores }] = await Promise.all([
      import('../native/create-engine-transport.ts'),
      import('@serve-dist/manifest/usable-cores'),
    ])
    const credentials = tls?.credentials
    const isChecked = process.env['SERVE_DIST_ENGINE_CHECK'] === '1'
    const native = {
      binding,
      threads: threads ?? usableCores(),
      allowHosts,
      credentials,
      onProblem,
      isChecked,
    }
    const transport = createEngineTransport(listener, options, native)
    return tls === undefined ? transport : await followFiles(transport, tls)
  }
  if (tls === undefined) return createHttpTransport(listener, options)
  const { createTlsTransport } = await import('../transport/tls/create-tls-transport.ts')
  return await followFiles(createTlsTransport(listener, options, tls.credentials), tls)
}

async function followFiles(transport: TlsTransport, { files, credentials }: TlsPair): Promise<Transport> {
  const [{ warningOf }, { watchTlsFiles }] = await Promise.all([
    import('../transport/tls/tls-credentials.ts'),
    import('../transport/tls/watch-tls-files.ts'),
  ])
  logNotice(warningOf(credentials, Date.now()))
  const keep = (problem: string): void => logNotice(`${problem}\nstill using the certificate from before`)
  const watcher = watchTlsFiles(files, credentials, {
    onCredentials(next) {
      try {
        transport.setCredentials(next)
      } catch (error) {
        // The native engine knows fewer kinds than OpenSSL, which has read it.
        keep(`${files.cert}: cannot be used (${error instanceof Error ? error.message : String(error)})`)
        return
      }
      logNotice(
        `reloaded the certificate; it is valid until ${new Date(next.validTo).toISOString().slice(0, 10)}`,
      )
      logNotice(warningOf(next, Date.now()))
    },
    onProblem: ({ message }) => keep(message),
  })
  return {
    ...transport,
    reload: watcher.reload,
    drain(gracePeriod) {
      watcher.stop()
      return transport.drain(gracePeriod)
    },
  }
}

function logNotice(message: string | undefined): void {
  if (message !== undefined) process.stderr.write(`serve-dist: ${message}\n`)
}
