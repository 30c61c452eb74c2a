import { EventEmitter, once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2, constants } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { beforeAll, describe, expect, test } from 'vitest'
import { serve } from '../../src/serve/serve.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { dialTls } from '../support/dial-tls.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { openConnection } from '../support/open-connection.ts'
import { frameTypes, openRawHttp2 } from '../support/open-raw-http2.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import type { StartedServer } from '../support/start-server.ts'
import { startTlsServer } from '../support/start-tls-server.ts'
import { testedEngine } from '../support/tested-engine.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import type { TlsFiles } from '../../src/transport/tls/tls-credentials.ts'

const large = Buffer.alloc(16 * 1024 * 1024, 'abcdefg')
/** Longer than any test may take. A stop that waits for it fails the test. */
const longGracePeriod = 600_000

let directory: string
let tls: TlsFiles
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page', 'large.bin': large })
  tls = await writeCertificate()
})

interface StartOptions {
  readonly gracePeriod?: number
  readonly largestBody?: number
}

async function start({
  gracePeriod = longGracePeriod,
  largestBody = 0,
}: StartOptions = {}): Promise<StartedServer> {
  const server = await serve({
    directory,
    port: 0,
    gracePeriod,
    tls,
    engine: testedEngine,
    site: { largestBody },
  })
  const port = Number(new URL(server.url).port)
  // The native engine answers only hosts that Node has seen.
  for (const Host of ['example.org', 'localhost', `127.0.0.1:${port}`])
    await rawRequest(port, { fields: { Host } }, dialTls)
  return { ...server, port }
}

async function openSession(port: number): Promise<ClientHttp2Session> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  await once(session, 'remoteSettings')
  return session
}

describe('close, over TLS', () => {
  test('sends GOAWAY on an idle session, and closes it at once', async () => {
    const server = await start()
    const connection = await openRawHttp2(server.port)
    connection.request(1)
    await connection.find(({ type }) => type === frameTypes.data)
    const closed = server.close()
    const { payload } = await connection.find(({ type }) => type === frameTypes.goAway)
    // The native engine first announces its end, and accepts requests in flight (RFC 9113 §6.8).
    expect([1, 2 ** 31 - 1]).toContain(payload.readUInt32BE(0))
    expect(payload.readUInt32BE(4)).toBe(0)
    connection.socket.end()
    await closed
  })

  test('closes a session without any requests', async () => {
    const server = await start()
    const session = await openSession(server.port)
    await server.close()
    expect(session.closed).toBe(true)
  })

  test('answers requests of a session that has just been opened', async () => {
    const server = await start()
    const session = await openSession(server.port)
    const closed = server.close()
    const stream = session.request({})
    const [headers] = await once(stream, 'response')
    expect([headers[':status'], (await buffer(stream)).toString()]).toEqual([200, 'page'])
    await closed
  })

  test.each([
    ['from memory', Infinity],
    ['streamed', 0],
  ])(
    'lets streams in progress finish, %s, then ends before the grace period does',
    async (_how, largestBody) => {
      const server = await start({ largestBody })
      const session = await openSession(server.port)
      const streams = Array.from({ length: 3 }, () => session.request({ ':path': '/large.bin' }))
      await Promise.all(streams.map((stream) => once(stream, 'response')))
      const closed = server.close()
      const bodies = await Promise.all(streams.map((stream) => buffer(stream)))
      expect(bodies.every((body) => body.equals(large))).toBe(true)
      await closed
    },
  )

  test('destroys unfinished streams after the grace period', async () => {
    const server = await start({ gracePeriod: 200 })
    const session = await openSession(server.port)
    session.on('error', () => {
      // The test expects this reset.
    })
    const stream = session.request({ ':path': '/large.bin' })
    stream.on('error', () => {})
    await once(stream, 'response')
    const [ended] = await Promise.allSettled([once(stream, 'end'), server.close()])
    expect(ended).toMatchObject({ reason: { message: expect.stringContaining('NGHTTP2_INTERNAL_ERROR') } })
    expect(stream.readableLength).toBeLessThan(large.length)
  })

  test('resets unfinished streams because an end would look like the end of the body', async () => {
    const server = await start({ gracePeriod: 200 })
    const connection = await openRawHttp2(server.port)
    connection.request(1, { ':path': '/large.bin' })
    await connection.find(({ type }) => type === frameTypes.data)
    const closed = server.close()
    const { stream, payload } = await connection.find(({ type }) => type === frameTypes.resetStream)
    expect([stream, payload.readUInt32BE()]).toEqual([1, constants.NGHTTP2_INTERNAL_ERROR])
    await closed
  })

  test('lets a response over HTTP/1.1 finish, and closes its connection', async () => {
    const server = await start()
    const connection = await openConnection(server.port, dialTls)
    connection.send(formatRequest({ target: '/large.bin' }))
    await once(connection.socket, 'data')
    const closed = server.close()
    expect((await connection.receive()).body.length).toBe(large.length)
    expect(await connection.rest()).toHaveLength(0)
    await closed
  })

  test('sends a buffered response over HTTP/1.1 to the end, even if the client reads late', async () => {
    const text = 'abcdefg'.repeat(2 ** 21)
    const handed = new EventEmitter()
    const server = await startTlsServer((_request, response) => {
      response.end(text)
      handed.emit('over')
    })
    const socket = dialTls(server.port)
    socket.write(formatRequest({}))
    await once(handed, 'over')
    const drained = server.drain(15_000)
    const received = await buffer(socket)
    expect(received.subarray(-text.length).equals(Buffer.from(text))).toBe(true)
    socket.end()
    await drained
  })

  test('closes a connection over HTTP/1.1 within a second if it finishes its handshake and sends nothing', async () => {
    const server = await start()
    const tcp = connectTcp({ port: server.port, host: '127.0.0.1' })
    await once(tcp, 'connect')
    const idle = await openConnection(server.port, dialTls)
    idle.send(formatRequest({}))
    await idle.receive()
    const closed = server.close()
    // The idle connection closes when the server has checked for idle ones.
    await idle.rest()
    const late = connectTls({ socket: tcp, rejectUnauthorized: false })
    await once(late, 'secureConnect')
    late.resume()
    await expect(closed).resolves.toBeUndefined()
  })

  test('closes idle connections over HTTP/1.1 at once', async () => {
    const server = await start()
    const connection = await openConnection(server.port, dialTls)
    connection.send(formatRequest({}))
    await connection.receive()
    await server.close()
    expect(await connection.rest()).toHaveLength(0)
  })

  test('does not wait for a handshake that never starts', async () => {
    const server = await start()
    const socket = connectTcp({ port: server.port, host: '127.0.0.1' })
    await once(socket, 'connect')
    await expect(server.close()).resolves.toBeUndefined()
  })

  test.skipIf(process.platform === 'win32')(
    'over a unix socket, waits neither for a handshake that never starts nor for an idle connection',
    async () => {
      const socket = join(await temporaryDirectory(), 'socket')
      const server = await serve({
        directory,
        socket,
        gracePeriod: longGracePeriod,
        tls,
        engine: testedEngine,
      })
      const silent = connectTcp({ path: socket })
      await once(silent, 'connect')
      const idle = connectTls({ path: socket, rejectUnauthorized: false })
      await once(idle, 'secureConnect')
      idle.write(formatRequest({}))
      await once(idle, 'data')
      await expect(server.close()).resolves.toBeUndefined()
    },
  )
})
