import { copyFile, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { describeBlackBox } from '../support/black-box.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { http2Request } from '../support/http2-request.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { rawRequest } from '../support/raw-request.ts'
import { pemToBase64, readPeerCertificate } from '../support/read-peer-certificate.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import type { TlsFiles } from '../../src/transport/tls/tls-credentials.ts'

const flagsOf = ({ cert, key }: TlsFiles): string[] => ['--port', '0', '--tls-cert', cert, '--tls-key', key]

let directory: string
let files: TlsFiles
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page' })
  files = await writeCertificate()
})

describeBlackBox({
  name: '--workers 2 with --tls-cert, by HTTP/2',
  role: 'standalone',
  ask: http2Request,
  async start({ directory: folder, memoryBudget }) {
    const flags = [...flagsOf(await writeCertificate()), '--workers', '2']
    const { listening } = spawnCommand([folder, ...flags, '--memory-budget', String(memoryBudget)])
    const { port } = await listening
    return port
  },
})

describe('serve-dist --tls-cert', () => {
  test("prints https in its start line, reads the files' paths from the environment, and stops cleanly", async () => {
    const env = { TLS_CERT: files.cert, TLS_KEY: files.key }
    const { child, listening, exited } = spawnCommand([directory, '--port', '0'], { env })
    const { url, port } = await listening
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/$/)
    expect((await http2Request(port)).status).toBe(200)
    child.kill('SIGTERM')
    const { code, stderr } = await exited
    expect([code, stderr]).toEqual([0, ''])
  })

  test.skipIf(process.platform === 'win32').each([
    ['one process', []],
    ['each of two workers', ['--workers', '2']],
  ])('reads its certificate again, %s', async (_how, workers) => {
    const own = await writeCertificate()
    const next = await writeCertificate({ name: 'next.example' })
    const { child, listening, exited } = spawnCommand([directory, ...flagsOf(own), ...workers])
    const { port } = await listening
    await copyFile(next.key, own.key)
    await copyFile(next.cert, own.cert)
    const expected = pemToBase64(await readFile(next.cert, 'utf8'))
    await vi.waitFor(
      async () => {
        const shown = await Promise.all([1, 2, 3, 4].map(() => readPeerCertificate(port)))
        expect(shown.every((certificate) => certificate === expected)).toBe(true)
      },
      { timeout: 15_000, interval: 200 },
    )
    child.kill('SIGTERM')
    expect((await exited).code).toBe(0)
  })

  test.skipIf(process.platform !== 'linux')(
    'reads its certificate again at SIGHUP in each of two workers, even if the build is rejected',
    async () => {
      const folder = await buildFixture({ 'index.html': 'page' })
      const own = await writeCertificate()
      const next = await writeCertificate({ name: 'next.example' })
      // Only the signal triggers the reload here.
      const fault = `
        import fs from 'node:fs'
        import { syncBuiltinESMExports } from 'node:module'
        fs.watch = () => { throw new Error('none is told of') }
        syncBuiltinESMExports()`
      const command = spawnCommand([folder, ...flagsOf(own), '--workers', '2'], {
        nodeOptions: ['--import', `data:text/javascript,${encodeURIComponent(fault)}`],
      })
      const { port } = await command.listening
      await rm(join(folder, 'index.html'))
      await copyFile(next.key, own.key)
      await copyFile(next.cert, own.cert)
      const expected = pemToBase64(await readFile(next.cert, 'utf8'))
      command.child.kill('SIGHUP')
      await vi.waitUntil(() => command.complaints().includes('reload refused'))
      const shown = await Promise.all(Array.from({ length: 16 }, () => readPeerCertificate(port)))
      expect(new Set(shown)).toEqual(new Set([expected]))
      command.child.kill('SIGTERM')
      expect((await command.exited).code).toBe(0)
    },
  )

  test.each([
    ['one process', []],
    ['two workers', ['--workers', '2']],
  ])('prints its port for redirects, %s', async (_how, workers) => {
    const { child, listening, exited } = spawnCommand([
      directory,
      ...flagsOf(files),
      '--redirect-http',
      '0',
      ...workers,
    ])
    const line = /^redirecting HTTP to HTTPS · http:\/\/127\.0\.0\.1:(\d+)\/$/m
    let stdout = ''
    child.stdout?.on('data', (text: string) => (stdout += text))
    await listening
    await vi.waitFor(() => expect(stdout).toMatch(line))
    const { status, field } = await rawRequest(Number(line.exec(stdout)?.[1]), { target: '/x' })
    expect([status, field('Location')]).toEqual([308, 'https://example.org/x'])
    child.kill('SIGTERM')
    expect((await exited).code).toBe(0)
  })

  test('warns about an expired certificate, and serves', async () => {
    const expired = await writeCertificate({ validTo: new Date(Date.now() - 60_000) })
    const { listening, complaints } = spawnCommand([directory, ...flagsOf(expired)])
    await listening
    await vi.waitFor(() => expect(complaints()).toMatch(/the certificate expired on \d{4}-\d\d-\d\d/))
  })

  test.each<readonly [string, () => string[], RegExp]>([
    ['a certificate without its key', () => ['--tls-cert', files.cert], /--tls-cert needs --tls-key/],
    ['a redirect without TLS', () => ['--redirect-http', '0'], /--redirect-http needs --tls-cert/],
    [
      'an invalid duration',
      () => [...flagsOf(files), '--hsts', 'ever'],
      /--hsts: expected a time such as 1y/,
    ],
    [
      'missing files',
      () => ['--tls-cert', '/nowhere/cert.pem', '--tls-key', '/nowhere/key.pem'],
      /^serve-dist: SD_TLS_UNUSABLE: cannot enable TLS:\n {2}\/nowhere\/cert\.pem: .*\n {2}\/nowhere\/key\.pem: .*\n$/,
    ],
  ])('rejects %s with exit code 1 and one message', async (_what, flags, message) => {
    const { code, stdout, stderr } = await spawnCommand([directory, ...flags()]).exited
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(message)
  })
})
