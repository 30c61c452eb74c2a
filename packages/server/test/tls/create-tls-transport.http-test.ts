import { EventEmitter, once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2'
import { buffer } from 'node:stream/consumers'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { formatRequest } from '../support/raw-request.ts'
import { type StartedTlsServer, startTlsServer } from '../support/start-tls-server.ts'

const script = compressibleText(300_000)
const closers: (() => void)[] = []

let server: StartedTlsServer
beforeAll(async () => {
  const directory = await buildFixture({ 'index.html': 'page', 'app.js': script })
  const site = await loadSite(directory)
  const handle = createHandler(site)
  server = await startTlsServer((request, response) => handle(request, response), {}, site)
})
afterAll(() => {
  for (const close of closers) close()
})

async function handshake(options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connectTls({ port: server.port, host: '127.0.0.1', rejectUnauthorized: false, ...options })
  closers.push(() => socket.destroy())
  await once(socket, 'secureConnect')
  return socket
}

function openSession(): ClientHttp2Session {
  const session = connectHttp2(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false })
  closers.push(() => session.destroy())
  return session
}

async function ask(session: ClientHttp2Session, fields: OutgoingHttpHeaders) {
  const stream = session.request(fields)
  const [headers] = await once(stream, 'response')
  return { status: headers[':status'], fields: headers, body: await buffer(stream) }
}

/** Returns the number of timers that keep this process alive. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
}

describe('createTlsTransport', () => {
  test.each([
    [['h2', 'http/1.1'], 'h2'],
    [['http/1.1', 'h2'], 'h2'],
    [['http/1.1'], 'http/1.1'],
    [undefined, false],
  ])('a client that offers %j gets %j', async (ALPNProtocols, expected) => {
    const socket = await handshake(ALPNProtocols === undefined ? {} : { ALPNProtocols })
    expect(socket.alpnProtocol).toBe(expected)
  })

  test('a client that offers neither is rejected', async () => {
    await expect(handshake({ ALPNProtocols: ['spdy/3'] })).rejects.toThrow(/no application protocol/i)
  })

  test.each(['TLSv1.2', 'TLSv1.3'] as const)('%s is supported', async (version) => {
    const socket = await handshake({ minVersion: version, maxVersion: version })
    expect(socket.getProtocol()).toBe(version)
  })

  test('TLS 1.1 is rejected', async () => {
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
    await expect(handshake(old)).rejects.toThrow(/protocol version|handshake failure/i)
  })

  test.each([[['http/1.1']], [undefined]])('HTTP/1.1 gets a response (%j)', async (ALPNProtocols) => {
    const socket = await handshake(ALPNProtocols === undefined ? {} : { ALPNProtocols })
    socket.write(formatRequest({ target: '/app.js', fields: { Connection: 'close' } }))
    const answer = (await buffer(socket)).toString()
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    expect(answer.endsWith(script)).toBe(true)
  })

  test('HTTP/2 gets a response', async () => {
    const { status, body } = await ask(openSession(), { ':path': '/app.js' })
    expect([status, body.toString() === script]).toEqual([200, true])
  })

  test('a response to a closed stream leaves no timer behind', async () => {
    const answered = new EventEmitter()
    const { port } = await startTlsServer((_request, response) => {
      response.once('close', () => {
        const before = timers()
        response.end('too late')
        answered.emit('late', timers() - before)
      })
      response.write('a part')
    })
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    closers.push(() => session.destroy())
    const stream = session.request({})
    await once(stream, 'response')
    stream.close()
    expect(await once(answered, 'late')).toEqual([0])
  })
})
