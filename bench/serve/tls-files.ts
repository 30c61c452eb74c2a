import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { cacheDirectory } from './bench-directory.ts'
import { runProcess } from './run-process.ts'

/** Paths of a certificate and its key, in PEM form. */
export interface TlsFiles {
  readonly certificate: string
  readonly key: string
}

/** The only TLS parameters of clients. If servers could choose, the table would compare their choices. */
export const agreed = { version: 'TLSv1.3', cipher: 'TLS_AES_256_GCM_SHA384', group: 'X25519' } as const

const folder = join(cacheDirectory, 'tls')
const files: TlsFiles = { certificate: join(folder, 'certificate.pem'), key: join(folder, 'key.pem') }
const clientConfiguration = join(folder, 'client.cnf')

let written: Promise<TlsFiles> | undefined

/** Makes a self-signed ECDSA certificate (P-256) for `localhost`, once in each run. */
export async function tlsFiles(): Promise<TlsFiles> {
  written ??= writeTlsFiles()
  return written
}

/** Returns an environment that limits a load generator with OpenSSL 3 to `agreed`. */
export const tlsClientEnvironment: Readonly<Record<string, string>> = { OPENSSL_CONF: clientConfiguration }

async function writeTlsFiles(): Promise<TlsFiles> {
  await mkdir(folder, { recursive: true })
  await writeFile(clientConfiguration, openSslConfiguration())
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', files.key]
  const certificate = ['-subj', '/CN=localhost', '-days', '30', '-out', files.certificate]
  await runProcess('openssl', ['req', '-x509', ...key, ...certificate])
  return files
}

/** https://docs.openssl.org/3.0/man5/config/ */
function openSslConfiguration(): string {
  return `openssl_conf = all
[all]
ssl_conf = ssl
[ssl]
system_default = default
[default]
MinProtocol = ${agreed.version}
Ciphersuites = ${agreed.cipher}
Groups = ${agreed.group}
`
}
