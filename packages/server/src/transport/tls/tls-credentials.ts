import { OperatorError } from '@serve-dist/manifest'
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'

/** PEM files: the certificate followed by its chain, and its key. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

/** A certificate and its key. */
export interface TlsCredentials {
  readonly cert: Buffer
  readonly key: Buffer
  /** The validity of the certificate, in milliseconds since 1970. */
  readonly validFrom: number
  readonly validTo: number
}

/**
 * Reads a certificate and its key, and checks that they match.
 *
 * @throws OperatorError with every problem.
 */
export async function readTlsCredentials(files: TlsFiles): Promise<TlsCredentials> {
  const problems: string[] = []
  const note = (problem: string) => (error: unknown) => {
    problems.push(`${problem}: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
  // Sequentially, to report the problems in a fixed order.
  const cert = await readFile(files.cert).catch(note(`${files.cert}: cannot read the certificate`))
  const key = await readFile(files.key).catch(note(`${files.key}: cannot read the key`))
  const certificate =
    cert && attempt(() => new X509Certificate(cert), note(`${files.cert}: this is not a PEM certificate`))
  const privateKey =
    key && attempt(() => parseKey(key), note(`${files.key}: this is not a usable PEM private key`))
  if (certificate && privateKey && !certificate.checkPrivateKey(privateKey)) {
    problems.push(
      `${files.key}: this key does not belong to the certificate in ${files.cert}. Put the server's certificate first in that file, then its chain.`,
    )
  }
  // OpenSSL may still reject them, for example because of a short key.
  if (problems.length === 0)
    attempt(() => createSecureContext({ cert, key }), note(`${files.cert}: cannot use the certificate`))
  if (cert === undefined || key === undefined || certificate === undefined || problems.length > 0) {
    throw new OperatorError('SD_TLS_UNUSABLE', problems, { heading: 'cannot enable TLS:' })
  }
  return { cert, key, validFrom: Date.parse(certificate.validFrom), validTo: Date.parse(certificate.validTo) }
}

/** Returns a warning about the dates of a certificate, which the server uses nevertheless. */
export function describeCertificateDates(
  { validFrom, validTo }: TlsCredentials,
  now: number,
): string | undefined {
  if (now > validTo) return `the certificate expired on ${day(validTo)}, so clients will reject it. Renew it.`
  if (now < validFrom)
    return `the certificate is not valid before ${day(validFrom)}. Clients will reject it until then.`
  return undefined
}

function day(time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

function parseKey(pem: Buffer): KeyObject {
  if (/^-----BEGIN ENCRYPTED|^Proc-Type: 4,ENCRYPTED/m.test(pem.toString('latin1'))) {
    throw new TypeError(
      'it is encrypted. Save it without a passphrase, and make it readable only for this user.',
    )
  }
  return createPrivateKey(pem)
}

function attempt<Value>(make: () => Value, recover: (error: unknown) => undefined): Value | undefined {
  try {
    return make()
  } catch (error) {
    return recover(error)
  }
}
