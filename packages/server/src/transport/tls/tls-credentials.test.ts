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
  test('reads a certificate and the key that belongs to it', async () => {
    const { cert, key, validFrom, validTo } = await readTlsCredentials(files)
    expect([cert, key]).toEqual([await readFile(files.cert), await readFile(files.key)])
    expect(validFrom).toBeLessThan(Date.now())
    expect(validTo).toBeGreaterThan(Date.now())
  })

  test('takes a chain behind the certificate', async () => {
    const chained = await writeCertificate()
    await appendFile(chained.cert, await readFile(files.cert))
    await expect(readTlsCredentials(chained)).resolves.toBeDefined()
  })

  test('names both files that are not there', async () => {
    await expect(readTlsCredentials({ cert: '/nowhere/cert.pem', key: '/nowhere/key.pem' })).rejects.toThrow(
      /cannot enable TLS:\n {2}\/nowhere\/cert\.pem: the certificate cannot be read .*ENOENT.*\n {2}\/nowhere\/key\.pem: the key cannot be read .*ENOENT/,
    )
  })

  test('refuses a key of another certificate', async () => {
    await expect(readTlsCredentials({ cert: files.cert, key: others.key })).rejects.toThrow(
      /key\.pem: does not belong to the certificate in .*cert\.pem/,
    )
  })

  test('refuses files that were mistaken for each other, both named', async () => {
    await expect(readTlsCredentials({ cert: files.key, key: files.cert })).rejects.toThrow(
      /no certificate in PEM form[^]*no usable private key in PEM form/,
    )
  })

  test('refuses an encrypted key, and says what to do', async () => {
    const broken = await writeCertificate()
    const { privateKey } = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
    })
    await writeFile(broken.key, privateKey)
    await expect(readTlsCredentials(broken)).rejects.toThrow(/it is encrypted; write it without a passphrase/)
  })

  test('refuses an empty file', async () => {
    const broken = await writeCertificate()
    await copyFile('/dev/null', broken.cert)
    await expect(readTlsCredentials(broken)).rejects.toThrow(/cert\.pem: no certificate in PEM form/)
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
    [Date.UTC(2030, 4, 1), 'the certificate expired on 2030-04-01; clients will reject it'],
    [
      Date.UTC(2029, 11, 1),
      'the certificate is not valid before 2030-01-01; clients will reject it until then',
    ],
  ])('at %d is %s', (now, expected) => {
    expect(describeCertificateDates(certificate, now)).toBe(expected)
  })
})
