import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { TlsTransport } from '../transport/tls/create-tls-transport.ts'
import type { TlsCredentials, TlsFiles } from '../transport/tls/tls-credentials.ts'
import type { Transport } from '../transport/transport.ts'

/** A certificate and the files that it was read from. */
export interface TlsPair {
  readonly files: TlsFiles
  readonly credentials: TlsCredentials
}

/** Makes a transport reload its certificate when the files change, and logs this on standard error. */
export async function followCertificate(
  transport: TlsTransport,
  { files, credentials }: TlsPair,
): Promise<Transport> {
  const [{ describeCertificateDates }, { watchTlsFiles }] = await Promise.all([
    import('../transport/tls/tls-credentials.ts'),
    import('../transport/tls/watch-tls-files.ts'),
  ])
  logNotice(describeCertificateDates(credentials, Date.now()))
  const keep = (problem: string): void => logNotice(`${problem}\nstill using the previous certificate`)
  const watcher = watchTlsFiles(files, credentials, {
    onCredentials(next) {
      try {
        transport.setCredentials(next)
      } catch (error) {
        // OpenSSL has accepted the certificate, but it supports more types of keys than the native engine.
        keep(
          `${files.cert}: the native engine cannot use this certificate (${reasonOf(error)}). Restart the server with --engine auto to use Node's engine`,
        )
        return
      }
      logNotice(
        `reloaded the certificate, which is valid until ${new Date(next.validTo).toISOString().slice(0, 10)}`,
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
