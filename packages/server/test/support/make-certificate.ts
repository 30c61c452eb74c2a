import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TlsFiles } from '../../src/transport/tls/tls-credentials.ts'
import { temporaryDirectory } from './temporary-directory.ts'

export interface CertificateContent {
  /** @default 'localhost' */
  readonly name?: string
  /**
   * The curve of its key.
   *
   * @default 'P-256'
   */
  readonly curve?: string
  /** @default an hour ago */
  readonly validFrom?: Date
  /** @default in a day */
  readonly validTo?: Date
}

const hour = 3_600_000

/**
 * Creates a self-signed certificate (RFC 5280) for a name, `localhost` and 127.0.0.1, and its key, both in
 * PEM.
 */
export function makeCertificate({
  name = 'localhost',
  curve = 'P-256',
  validFrom = new Date(Date.now() - hour),
  validTo = new Date(Date.now() + 24 * hour),
}: CertificateContent = {}): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: curve })
  const entity = sequence(tag(0x31, sequence(objectId(2, 5, 4, 3), tag(0x0c, Buffer.from(name)))))
  const toBeSigned = sequence(
    tag(0xa0, integer(2)),
    tag(0x02, Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ecdsaWithSha256,
    entity,
    sequence(time(validFrom), time(validTo)),
    entity,
    publicKey.export({ type: 'spki', format: 'der' }),
    tag(0xa3, sequence(alternativeNames(name))),
  )
  const signature = sign('sha256', toBeSigned, privateKey)
  const certificate = sequence(
    toBeSigned,
    ecdsaWithSha256,
    tag(0x03, Buffer.concat([Buffer.of(0), signature])),
  )
  return { cert: toPem('CERTIFICATE', certificate), key: keyToPem(privateKey) }
}

/** Writes a certificate and its key into a folder, which is removed after the test file. */
export async function writeCertificate(content: CertificateContent = {}): Promise<TlsFiles> {
  const directory = await temporaryDirectory()
  const files = { cert: join(directory, 'cert.pem'), key: join(directory, 'key.pem') }
  const { cert, key } = makeCertificate(content)
  await Promise.all([writeFile(files.cert, cert), writeFile(files.key, key, { mode: 0o600 })])
  return files
}

function keyToPem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

function toPem(label: string, der: Buffer): string {
  const lines = der.toString('base64').replaceAll(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`
}

function alternativeNames(name: string): Buffer {
  const names = [...new Set([name, 'localhost'])].map((each) => tag(0x82, Buffer.from(each)))
  const list = sequence(...names, tag(0x87, Buffer.of(127, 0, 0, 1)))
  return sequence(objectId(2, 5, 29, 17), tag(0x04, list))
}

// The necessary parts of DER (ITU-T X.690), the encoding of certificates.

function tag(number: number, content: Buffer): Buffer {
  const { length } = content
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.of(number, ...head), content])
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tag(0x30, Buffer.concat(parts))
}

function integer(value: number): Buffer {
  return tag(0x02, Buffer.of(value))
}

function objectId(first: number, second: number, ...rest: readonly number[]): Buffer {
  const octets = rest.flatMap((value) => (value < 128 ? [value] : [(value >> 7) | 128, value & 127]))
  return tag(0x06, Buffer.of(first * 40 + second, ...octets))
}

/** Years up to 2049 have two digits (RFC 5280 §4.1.2.5). */
function time(date: Date): Buffer {
  return tag(
    0x17,
    Buffer.from(
      date
        .toISOString()
        .slice(2)
        .replaceAll(/[-:T]|\.\d+/g, ''),
    ),
  )
}

const ecdsaWithSha256 = sequence(objectId(1, 2, 840, 10_045, 4, 3, 2))
