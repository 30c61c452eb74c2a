import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:tls'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { serve } from '../../src/serve/serve.ts'
import type { TlsOptions } from '../../src/transport/tls/tls-options.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { dialTls } from '../support/dial-tls.ts'
import { http2Request } from '../support/http2-request.ts'
import { makeCertificate, writeCertificate } from '../support/make-certificate.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest, type RawRequest, rawRequest } from '../support/raw-request.ts'
import { pemToBase64, readPeerCertificate } from '../support/read-peer-certificate.ts'
import { requestTwice } from '../support/request-twice.ts'
import { startListener } from '../support/start-listener.ts'
import { startServer } from '../support/start-server.ts'
import { testedEngine } from '../support/tested-engine.ts'
import type { TlsFiles } from '../../src/transport/tls/tls-credentials.ts'

let directory: string
let files: TlsFiles
let taken: number
beforeAll(async () => {
  taken = await startListener(() => {})
  directory = await buildFixture({ 'index.html': 'page', 'about.html': 'about' })
  files = await writeCertificate()
})

/** Returns the number of inotify watches of this process. Linux only. */
function watchesOfThisProcess(): number {
  const infos = readdirSync('/proc/self/fdinfo').map((descriptor) => {
    try {
      return readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')
    } catch {
      // The descriptor was closed after it was listed.
      return ''
    }
  })
  return infos.join('\n').match(/^inotify wd/gm)?.length ?? 0
}

describe('serve over TLS', () => {
  test('has https in its URL', async () => {
    const { url } = await startServer(directory, { tls: files })
    expect(url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/$/)
  })

  test.each([
    ['HTTP/1.1', (port: number, request: RawRequest) => rawRequest(port, request, dialTls)],
    ['HTTP/2', http2Request],
  ])('sends Strict-Transport-Security if it is configured, over %s', async (_version, ask) => {
    const [with_, without] = await Promise.all([
      startServer(directory, { tls: { ...files, hsts: '1y' } }),
      startServer(directory, { tls: files }),
    ])
    const name = 'Strict-Transport-Security'
    expect((await requestTwice(with_.port, {}, ask)).field(name)).toBe('max-age=31536000')
    expect((await requestTwice(without.port, {}, ask)).field(name)).toBeUndefined()
  })

  test('lets a rule for Strict-Transport-Security override it', async () => {
    const rules = { headers: { 'about.html': { 'Strict-Transport-Security': 'max-age=1' } } }
    const { port } = await startServer(directory, { tls: { ...files, hsts: '1y' }, site: { rules } })
    const ask = async (target: string) =>
      (await requestTwice(port, { target }, http2Request)).field('Strict-Transport-Security')
    expect([await ask('/'), await ask('/about')]).toEqual(['max-age=31536000', 'max-age=1'])
  })

  test('uses a new certificate after its files have changed, and keeps open sessions', async () => {
    const own = await writeCertificate()
    const server = await startServer(directory, { tls: own })
    const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false })
    await once(session, 'connect')
    expect(await readPeerCertificate(server.port)).toBe(pemToBase64(await readFile(own.cert, 'utf8')))
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const next = makeCertificate({ name: 'next.example' })
    await writeFile(own.key, next.key)
    await writeFile(own.cert, next.cert)
    await server.reload()
    expect(await readPeerCertificate(server.port)).toBe(pemToBase64(next.cert))
    expect(stderr.mock.calls.join('')).toMatch(/reloaded the certificate, which is valid until 20/)
    stderr.mockRestore()
    const stream = session.request({})
    const [headers] = await once(stream, 'response')
    expect(headers[':status']).toBe(200)
    session.destroy()
  })

  test('keeps the old certificate if the new one is unusable, and reports the reason', async () => {
    const own = await writeCertificate()
    const server = await startServer(directory, { tls: own })
    const before = await readPeerCertificate(server.port)
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    await writeFile(own.cert, makeCertificate().cert)
    await server.reload()
    expect(await readPeerCertificate(server.port)).toBe(before)
    expect(stderr.mock.calls.join('')).toMatch(
      /does not belong to the certificate[^]*still using the previous certificate/,
    )
    stderr.mockRestore()
  })

  test.skipIf(process.platform !== 'linux')(
    'stops watching the certificate if it cannot listen',
    async () => {
      const own = await writeCertificate()
      const before = watchesOfThisProcess()
      await expect(serve({ directory, port: taken, tls: own })).rejects.toThrow('is in use')
      expect(watchesOfThisProcess()).toBe(before)
    },
  )

  test.each<readonly [string, () => TlsOptions, RegExp]>([
    ['missing files', () => ({ cert: '/nowhere/cert', key: '/nowhere/key' }), /ENOENT/],
    [
      'a port for redirects that is in use',
      () => ({ ...files, redirectPort: taken }),
      /in use.*--redirect-http/,
    ],
  ])('fails to start with %s', async (_what, tlsOf, message) => {
    const port = await freePort()
    await expect(serve({ directory, port, tls: tlsOf() })).rejects.toThrow(message)
    await expect(once(connect({ port, host: '127.0.0.1' }), 'secureConnect')).rejects.toThrow('ECONNREFUSED')
  })
})

async function freePort(): Promise<number> {
  const server = await serve({ directory, port: 0, engine: testedEngine })
  await server.close()
  return Number(new URL(server.url).port)
}

describe('redirects to HTTPS', () => {
  test('come from a separate port for all requests, and end with the server', async () => {
    const redirectPort = await freePort()
    const server = await serve({ directory, port: 0, engine: testedEngine, tls: { ...files, redirectPort } })
    const tlsPort = new URL(server.url).port
    const host = `example.org:${redirectPort}`
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
      const request = { method, target: '/no/such?thing', fields: { Host: host } }
      const response = await rawRequest(redirectPort, request)
      expect([response.status, response.field('Location'), response.body.length]).toEqual([
        308,
        `https://example.org:${tlsPort}/no/such?thing`,
        0,
      ])
    }
    await server.close()
    await expect(rawRequest(redirectPort)).rejects.toThrow('ECONNREFUSED')
  })

  test('lead to the port of HTTPS, also during a stop', async () => {
    const redirectPort = await freePort()
    const server = await serve({ directory, port: 0, engine: testedEngine, tls: { ...files, redirectPort } })
    const tlsPort = new URL(server.url).port
    const host = `example.org:${redirectPort}`
    const [late, idle] = [await openConnection(redirectPort), await openConnection(redirectPort)]
    late.send(`GET / HTTP/1.1\r\nHost: ${host}\r\n`)
    idle.send(formatRequest({ fields: { Host: host } }))
    await idle.receive()
    const closed = server.close()
    await idle.rest()
    late.send('\r\n')
    expect((await late.receive()).field('Location')).toBe(`https://example.org:${tlsPort}/`)
    await closed
  })

  test('are only for allowed hosts, if these are configured', async () => {
    const redirectPort = await freePort()
    const allowHosts = ['example.org']
    const server = await serve({
      directory,
      port: 0,
      engine: testedEngine,
      tls: { ...files, redirectPort },
      allowHosts,
    })
    const statuses = await Promise.all(
      ['example.org', 'evil.example'].map(async (host) => {
        const response = await rawRequest(redirectPort, { fields: { Host: host } })
        return response.status
      }),
    )
    expect(statuses).toEqual([308, 421])
    await server.close()
  })

  test('use the host of an absolute target (RFC 9112 §3.2.2), and reject a fragment', async () => {
    const redirectPort = await freePort()
    const allowHosts = ['example.org']
    const server = await serve({
      directory,
      port: 0,
      engine: testedEngine,
      tls: { ...files, redirectPort },
      allowHosts,
    })
    const tlsPort = new URL(server.url).port
    const answerTo = async (target: string, Host: string): Promise<unknown[]> => {
      const response = await rawRequest(redirectPort, { target, fields: { Host } })
      return [response.status, response.field('Location')]
    }
    const target = `http://user@example.org:${redirectPort}//a?b`
    expect(await answerTo(target, 'evil.example')).toEqual([308, `https://example.org:${tlsPort}//a?b`])
    expect(await answerTo('http://evil.example/a', 'example.org')).toEqual([421, undefined])
    expect(await answerTo('om://example.org/a', 'example.org')).toEqual([400, undefined])
    expect(await answerTo('/a#b', 'example.org')).toEqual([400, undefined])
    await server.close()
  })

  test('reject a request with an ambiguous host', async () => {
    const redirectPort = await freePort()
    const server = await serve({ directory, port: 0, engine: testedEngine, tls: { ...files, redirectPort } })
    for (const host of ['example.org@evil.example', 'example.org/', '']) {
      const response = await rawRequest(redirectPort, { fields: { Host: host } })
      expect([host, response.status, response.field('Location')]).toEqual([host, 400, undefined])
    }
    await server.close()
  })
})
