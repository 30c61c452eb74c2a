import { createHttpTransport } from '../transport/create-http-transport.ts'
import { createTlsTransport } from '../transport/tls/create-tls-transport.ts'
import { readTlsCredentials, type TlsFiles, warningOf } from '../transport/tls/tls-credentials.ts'
import type { RequestListener, Transport, TransportOptions } from '../transport/transport.ts'
import { watchTlsFiles } from '../transport/tls/watch-tls-files.ts'

/**
 * Makes the transport that the options ask for; over TLS its certificate follows its files.
 *
 * @throws OperatorError when there is no certificate with its key.
 */
export async function openTransport(
  listener: RequestListener,
  options: TransportOptions,
  tls: TlsFiles | undefined,
): Promise<Transport> {
  if (tls === undefined) return createHttpTransport(listener, options)

  const credentials = await readTlsCredentials(tls)
  tell(warningOf(credentials, Date.now()))
  const transport = createTlsTransport(listener, options, credentials)
  const watcher = watchTlsFiles(tls, credentials, {
    onCredentials(next) {
      transport.setCredentials(next)
      tell(
        `the certificate was read again; it counts until ${new Date(next.validTo).toISOString().slice(0, 10)}`,
      )
      tell(warningOf(next, Date.now()))
    },
    onProblem: ({ message }) => tell(`${message}\nthe certificate from before is used on`),
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

function tell(message: string | undefined): void {
  if (message !== undefined) process.stderr.write(`serve-dist: ${message}\n`)
}
