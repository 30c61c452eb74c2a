import { appendFile, copyFile, readFile, writeFile } from 'node:fs/promises'
import { generateKeyPairSync } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { writeCertificate } from '../../../test/support/make-certificate.ts'
import { readTlsCredentials, type TlsFiles, describeCertificateDates } from './tls-credentials.ts'

let files: TlsFiles
let others: TlsFiles
beforeAll(async () => {
  files = await writeCertificate()
  others = await writeCertificate()
})

describe('readTlsCredentials', () => {
  test('reads a certificate and its key', async () => {
    const { cert, key, validFrom, validTo } = await readTlsCredentials(files)
    expect([cert, key]).toEqual([await readFile(files.cert), await readFile(files.key)])
    expect(validFrom).toBeLessThan(Date.now())
    expect(validTo).toBeGreaterThan(Date.now())
  })

  test('accepts a chain after the certificate', async () => {
    const chained = await writeCertificate()
    await appendFile(chained.cert, await readFile(files.cert))
    await expect(readTlsCredentials(chained)).resolves.toBeDefined()
  })

  test('names both files if they are missing', async () => {
    await expect(readTlsCredentials({ cert: '/nowhere/cert.pem', key: '/nowhere/key.pem' })).rejects.toThrow(
      /cannot enable TLS:\n {2}\/nowhere\/cert\.pem: cannot read the certificate: ENOENT.*\n {2}\/nowhere\/key\.pem: cannot read the key: ENOENT/,
    )
  })

  test('rejects the key of another certificate', async () => {
    await expect(readTlsCredentials({ cert: files.cert, key: others.key })).rejects.toThrow(
      /key\.pem: this key does not belong to the certificate in .*cert\.pem/,
    )
  })

  test('rejects swapped files and names both', async () => {
    await expect(readTlsCredentials({ cert: files.key, key: files.cert })).rejects.toThrow(
      /is not a PEM certificate[^]*is not a usable PEM private key/,
    )
  })

  test('rejects an encrypted key and tells how to fix it', async () => {
    const broken = await writeCertificate()
    const { privateKey } = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
    })
    await writeFile(broken.key, privateKey)
    await expect(readTlsCredentials(broken)).rejects.toThrow(/it is encrypted\. Save it without a passphrase/)
  })

  test('rejects an empty file', async () => {
    const broken = await writeCertificate()
    await copyFile('/dev/null', broken.cert)
    await expect(readTlsCredentials(broken)).rejects.toThrow(/cert\.pem: this is not a PEM certificate/)
  })
})

describe('describeCertificateDates', () => {
  const certificate = {
    cert: Buffer.of(),
    key: Buffer.of(),
    validFrom: Date.UTC(2030, 0, 1),
    validTo: Date.UTC(2030, 3, 1),
  }

  test.each([
    [Date.UTC(2030, 1, 1), undefined],
    [Date.UTC(2030, 4, 1), 'the certificate expired on 2030-04-01, so clients will reject it. Renew it.'],
    [
      Date.UTC(2029, 11, 1),
      'the certificate is not valid before 2030-01-01. Clients will reject it until then.',
    ],
  ])('at %d is %s', (now, expected) => {
    expect(describeCertificateDates(certificate, now)).toBe(expected)
  })
})
