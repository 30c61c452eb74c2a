import { createHttpTransport } from '../transport/create-http-transport.ts'
import type { ChosenEngine } from '../native/choose-engine.ts'
import type { TlsFiles } from '../transport/tls/tls-credentials.ts'
import type { RequestListener, Transport, TransportOptions } from '../transport/transport.ts'

/** Which transport it is. */
interface TransportChoice {
  readonly tls?: TlsFiles
  readonly engine: ChosenEngine
  /** The hosts that are served; the default is all. */
  readonly allowHosts?: readonly string[]
}

/**
 * Makes the transport that the options ask for; over TLS its certificate follows its files.
 *
 * @throws OperatorError when there is no certificate with its key.
 */
export async function openTransport(
  listener: RequestListener,
  options: TransportOptions,
  { tls, engine, allowHosts }: TransportChoice,
): Promise<Transport> {
  const { binding } = engine
  if (binding !== undefined) {
    const [{ createEngineTransport }, { usableCores }] = await Promise.all([
      import('../native/create-engine-transport.ts'),
      import('@serve-dist/manifest/usable-cores'),
    ])
    return createEngineTransport(listener, options, { binding, threads: usableCores(), allowHosts })
  }
  if (tls === undefined) return createHttpTransport(listener, options)

  const [{ readTlsCredentials, warningOf }, { createTlsTransport }, { watchTlsFiles }] = await Promise.all([
    import('../transport/tls/tls-credentials.ts'),
    import('../transport/tls/create-tls-transport.ts'),
    import('../transport/tls/watch-tls-files.ts'),
  ])
  const credentials = await readTlsCredentials(tls)
  logNotice(warningOf(credentials, Date.now()))
  const transport = createTlsTransport(listener, options, credentials)
  const watcher = watchTlsFiles(tls, credentials, {
    onCredentials(next) {
      transport.setCredentials(next)
      logNotice(
        `reloaded the certificate; it is valid until ${new Date(next.validTo).toISOString().slice(0, 10)}`,
      )
      logNotice(warningOf(next, Date.now()))
    },
    onProblem: ({ message }) => logNotice(`${message}\nstill using the certificate from before`),
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
