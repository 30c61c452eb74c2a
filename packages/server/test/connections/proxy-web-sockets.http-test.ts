import { once } from 'node:events'
import type { Socket } from 'node:net'
import { describe, expect, test, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { buildFixture } from '../support/build-fixture.ts'
import { dialTls } from '../support/dial-tls.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest } from '../support/raw-request.ts'
import { startServer } from '../support/start-server.ts'
import { startTarget } from '../support/start-target.ts'
import { webSocketHandshake } from '../support/web-socket-handshake.ts'

const directory = await buildFixture({ 'index.html': 'the page', 'api/socket': 'file' })
const switching =
  'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n'

async function serveRule(url: string, options: Parameters<typeof startServer>[1] = {}, rule: object = {}) {
  const redirects = [{ from: '/api/*', to: url, status: 200, force: true, ...rule }] as const
  return await startServer(directory, { ...options, site: { rules: { redirects } } })
}

/** A target that accepts the handshake with first bytes, then echoes. */
async function startEcho(first = '') {
  const sockets: Socket[] = []
  const target = await startTarget((_request, socket) => {
    sockets.push(socket)
    socket.write(switching + first)
    socket.removeAllListeners('data')
    socket.on('data', (chunk) => socket.write(chunk))
  })
  return { target, sockets }
}

describe.each([
  ['TCP', async () => ({})],
  ['TLS', async () => ({ tls: await writeCertificate() })],
])('a WebSocket over %s', (_how, optionsOf) => {
  test('is connected with the target, with first bytes of both sides', async () => {
    const options = await optionsOf()
    const { target } = await startEcho('first')
    const { port } = await serveRule(target.url, options)
    const connection = await openConnection(port, 'tls' in options ? dialTls : undefined)
    connection.send(formatRequest({ target: '/api/socket?a', fields: webSocketHandshake }))
    const response = await connection.receive()
    expect([response.status, response.field('Upgrade'), response.field('Sec-WebSocket-Accept')]).toEqual([
      101,
      'websocket',
      's3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
    ])
    const [request] = target.requests
    expect(request?.line).toBe('GET /api/socket?a HTTP/1.1')
    expect(request?.values('Upgrade')).toEqual(['websocket'])
    expect(request?.values('Sec-WebSocket-Key')).toEqual(['dGhlIHNhbXBsZSBub25jZQ=='])
    expect(request?.values('X-Forwarded-Proto')).toEqual(['tls' in options ? 'https' : 'http'])
    connection.send('hello')
    while (!(await received(connection.socket)).includes('hello'));
    connection.socket.end()
    expect((await connection.rest()).toString()).toBe('firsthello')
    await target.allClosed()
  })
})

test('bytes that follow the handshake at once reach the target', async () => {
  const { target } = await startEcho()
  const { port } = await serveRule(target.url)
  const connection = await openConnection(port)
  connection.send(`${formatRequest({ target: '/api/socket', fields: webSocketHandshake })}at once`)
  expect((await connection.receive()).status).toBe(101)
  connection.socket.end()
  expect((await connection.rest()).toString()).toBe('at once')
})

test('the refusal of the target reaches the client', async () => {
  const target = await startTarget(
    (_request, socket) =>
      void socket.write('HTTP/1.1 401 Unauthorized\r\nX-Why: no\r\nContent-Length: 2\r\n\r\nno'),
  )
  const { port } = await serveRule(target.url)
  const connection = await openConnection(port)
  connection.send(formatRequest({ target: '/api/socket', fields: webSocketHandshake }))
  const response = await connection.receive()
  expect([response.status, response.field('X-Why'), response.body.toString()]).toEqual([401, 'no', 'no'])
  expect(await connection.rest()).toHaveLength(0)
})

test('a target that is down is a 502', async () => {
  const { port } = await serveRule('http://127.0.0.1:1')
  const connection = await openConnection(port)
  connection.send(formatRequest({ target: '/api/socket', fields: webSocketHandshake }))
  expect((await connection.receive()).status).toBe(502)
})

test.each([
  ['no key', /Sec-WebSocket-Key.*\r\n/, '', 400],
  ['a short key', /Key: .*/, 'Key: dGhl', 400],
  ['two keys', /(Sec-WebSocket-Key.*\r\n)/, '$1$1', 400],
  ['no version', /Sec-WebSocket-Version.*\r\n/, '', 426],
  ['another version', '13', '8', 426],
])('a handshake with %s is refused', async (_what, text, replacement, status) => {
  const { target } = await startEcho()
  const { port } = await serveRule(target.url)
  const connection = await openConnection(port)
  const request = formatRequest({ target: '/api/socket', fields: webSocketHandshake })
  connection.send(request.replace(text, replacement))
  const response = await connection.receive()
  expect([response.status, response.field('Sec-WebSocket-Version'), response.field('Upgrade')]).toEqual(
    status === 426 ? [426, '13', 'websocket'] : [400, undefined, undefined],
  )
  expect(await connection.rest()).toHaveLength(0)
  expect(target.requests).toEqual([])
})

test('a handshake over HTTP/1.0 is a request without an upgrade', async () => {
  const { target } = await startEcho()
  const { port } = await serveRule(target.url)
  const connection = await openConnection(port)
  const request = formatRequest({ target: '/api/socket', fields: webSocketHandshake })
  connection.send(request.replace('HTTP/1.1', 'HTTP/1.0'))
  await vi.waitUntil(() => target.requests.length > 0, { timeout: 60_000 })
  expect(target.requests[0]?.values('Upgrade')).toEqual([])
  connection.socket.destroy()
})

test.each(['Upgrade: h2c\r\n', ''])(
  'a target that switches to another protocol is a 502: %j',
  async (field) => {
    const target = await startTarget(
      (_request, socket) =>
        void socket.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\n${field}\r\n`),
    )
    const { port } = await serveRule(target.url)
    const connection = await openConnection(port)
    connection.send(formatRequest({ target: '/api/socket', fields: webSocketHandshake }))
    expect((await connection.receive()).status).toBe(502)
    expect(await connection.rest()).toHaveLength(0)
    await target.allClosed()
  },
)

test('an upgrade to another protocol is an ordinary request', async () => {
  const target = await startTarget()
  const { port } = await serveRule(target.url)
  const connection = await openConnection(port)
  connection.send(formatRequest({ target: '/api/x', fields: { Connection: 'Upgrade', Upgrade: 'h2c' } }))
  expect((await connection.receive()).status).toBe(200)
  expect(target.requests[0]?.values('Upgrade')).toEqual([])
  connection.socket.destroy()
})

test('a silent WebSocket outlives the time limit', async () => {
  const { target, sockets } = await startEcho()
  const { port } = await serveRule(target.url, {}, { timeout: '500ms' })
  const connection = await openConnection(port)
  connection.send(formatRequest({ target: '/api/socket', fields: webSocketHandshake }))
  await connection.receive()
  await new Promise((resolve) => setTimeout(resolve, 1500))
  sockets[0]?.write('still here')
  expect(await received(connection.socket)).toBe('still here')
  connection.socket.destroy()
})

test('the close of the target reaches the client, and the other way round', async () => {
  const { target, sockets } = await startEcho()
  const { port } = await serveRule(target.url)
  for (const side of ['target', 'client']) {
    const connection = await openConnection(port)
    connection.send(formatRequest({ target: '/api/socket', fields: webSocketHandshake }))
    await connection.receive()
    const last = sockets.at(-1)
    if (last === undefined) throw new TypeError('no connection')
    if (side === 'target') {
      last.destroy()
      await once(connection.socket, 'end')
    } else {
      connection.socket.destroy()
      await once(last, 'close')
    }
    expect(last.destroyed).toBe(true)
  }
})

test('a stop closes it after the grace period', async () => {
  const { target } = await startEcho()
  const server = await serveRule(target.url, { gracePeriod: 1000 })
  const connection = await openConnection(server.port)
  connection.send(formatRequest({ target: '/api/socket', fields: webSocketHandshake }))
  await connection.receive()
  const closed = server.close()
  connection.send('still')
  expect(await received(connection.socket)).toBe('still')
  await closed
  await connection.rest()
  await target.allClosed()
})

test('`ws` works on both sides', async () => {
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(sockets, 'listening')
  sockets.on('connection', (socket) => socket.on('message', (data) => socket.send(data)))
  const address = sockets.address()
  const { port } = await serveRule(`http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`)
  const client = new WebSocket(`ws://127.0.0.1:${port}/api/socket`)
  await once(client, 'open')
  const large = Buffer.alloc(1_000_000, 'x')
  client.send(large)
  const [message] = await once(client, 'message')
  expect(large.equals(message)).toBe(true)
  client.close()
  await once(client, 'close')
  sockets.close()
})

async function received(socket: Socket): Promise<string> {
  const [chunk] = await once(socket, 'data')
  return String(chunk)
}
