import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { TlsTransport } from '../transport/tls/create-tls-transport.ts'
import type { TlsCredentials, TlsFiles } from '../transport/tls/tls-credentials.ts'
import type { Transport } from '../transport/transport.ts'

/** A certificate that was read, and where from. */
export interface TlsPair {
  readonly files: TlsFiles
  readonly credentials: TlsCredentials
}

/** Has a transport take its certificate again when its files change, and says so on standard error. */
export async function followCertificate(
  transport: TlsTransport,
  { files, credentials }: TlsPair,
): Promise<Transport> {
  const [{ describeCertificateDates }, { watchTlsFiles }] = await Promise.all([
    import('../transport/tls/tls-credentials.ts'),
    import('../transport/tls/watch-tls-files.ts'),
  ])
  logNotice(describeCertificateDates(credentials, Date.now()))
  const keep = (problem: string): void => logNotice(`${problem}\nstill using the certificate from before`)
  const watcher = watchTlsFiles(files, credentials, {
    onCredentials(next) {
      try {
        transport.setCredentials(next)
      } catch (error) {
        // OpenSSL has read it, and knows more kinds of keys than the native engine.
        keep(
          `${files.cert}: the native engine cannot use it (${reasonOf(error)}); restart the server: with --engine auto, Node's engine takes it`,
        )
        return
      }
      logNotice(
        `reloaded the certificate; it is valid until ${new Date(next.validTo).toISOString().slice(0, 10)}`,
      )
      logNotice(describeCertificateDates(next, Date.now()))
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
