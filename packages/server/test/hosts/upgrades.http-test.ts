import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { dialTls } from '../support/dial-tls.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { type Connection, openConnection } from '../support/open-connection.ts'
import { formatRequest, type RawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startServer } from '../support/start-server.ts'

const webSocket = { Connection: 'Upgrade', Upgrade: 'websocket' }
const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'

/** Answers pages with their method and path, and echoes bytes of accepted connections. */
const source = `
export default (request, response) => {
  let body = ''
  request.on('data', (chunk) => { body += chunk })
  request.on('end', () => response.end(request.method + ' ' + request.url + ' ' + body))
}
export function upgrade(request, socket, head) {
  if (request.url === '/throws') throw new Error('no socket today')
  socket.write(${JSON.stringify(switching)})
  socket.unshift(head)
  socket.on('data', (chunk) => {
    if (chunk.includes('bye')) socket.end(chunk)
    else socket.write(chunk)
  })
  socket.on('end', () => socket.end())
}`

let directory: string
let entry: string
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page', 'file.js': 'a file' }, { appType: 'custom' })
  entry = join(await writeFixture({ 'entry.mjs': source }), 'entry.mjs')
})

async function open(options: Parameters<typeof startServer>[1] = {}): Promise<Connection> {
  const { port } = await startServer(directory, { ssr: entry, ...options })
  return openConnection(port, options.tls === undefined ? undefined : dialTls)
}

/** Waits until the connection is accepted, sends octets, and returns the echo after the close. */
async function echoOf(connection: Connection, octets: string): Promise<string> {
  expect((await connection.receive()).status).toBe(101)
  connection.send(octets)
  return (await connection.rest()).toString()
}

describe('a module that exports `upgrade`', () => {
  test.each([
    ['TCP', async () => ({})],
    ['TLS', async () => ({ tls: await writeCertificate() })],
  ])('accepts WebSocket connections over %s', async (_how, options) => {
    const connection = await open(await options())
    connection.send(formatRequest({ target: '/live', fields: webSocket }))
    expect(await echoOf(connection, 'to and fro, bye')).toBe('to and fro, bye')
  })

  test('gets bytes that arrived right after the request', async () => {
    const connection = await open()
    connection.send(`${formatRequest({ target: '/live', fields: webSocket })}at once`)
    expect((await connection.receive()).status).toBe(101)
    connection.socket.end()
    expect((await connection.rest()).toString()).toBe('at once')
  })

  test('accepts an upgrade on a connection that already had responses', async () => {
    const connection = await open()
    for (const target of ['/file.js', '/file.js', '/page']) {
      connection.send(formatRequest({ target }))
      expect((await connection.receive()).status).toBe(200)
    }
    connection.send(formatRequest({ target: '/live', fields: webSocket }))
    expect(await echoOf(connection, 'later, bye')).toBe('later, bye')
  })

  test('works with `ws`', async () => {
    const library = JSON.stringify(pathToFileURL(createRequire(import.meta.url).resolve('ws')).href)
    const folder = await writeFixture({
      'entry.mjs': `import ws from ${library}
        const sockets = new ws.WebSocketServer({ noServer: true })
        export default (request, response) => response.end()
        export const upgrade = (request, socket, head) =>
          sockets.handleUpgrade(request, socket, head, (client) => client.on('message', (data) => client.send(data)))`,
    })
    const { port } = await startServer(directory, { ssr: join(folder, 'entry.mjs') })
    const client = new WebSocket(`ws://127.0.0.1:${port}/live`)
    await once(client, 'open')
    client.send('to and fro')
    const [message] = await once(client, 'message')
    expect(String(message)).toBe('to and fro')
    client.close()
    await once(client, 'close')
  })

  test('gets no upgrade for a file of the build, which is served', async () => {
    const connection = await open()
    connection.send(formatRequest({ target: '/file.js', fields: webSocket }))
    const response = await connection.receive()
    expect([response.status, response.body.toString()]).toEqual([200, 'a file'])
  })

  test.each<[string, RawRequest, string]>([
    ['h2c', { fields: { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c' } }, 'GET /live '],
    ['another protocol', { fields: { Connection: 'Upgrade', Upgrade: 'TLS/1.2' } }, 'GET /live '],
    ['a WebSocket by POST', { method: 'POST', fields: webSocket }, 'POST /live '],
  ])('gets requests for %s as usual', async (_name, request, body) => {
    const connection = await open()
    connection.send(formatRequest({ target: '/live', ...request }))
    const response = await connection.receive()
    expect([response.status, response.body.toString()]).toEqual([200, body])
  })

  test('gets no upgrade during a response', async () => {
    const connection = await open()
    const post = formatRequest({ method: 'POST', target: '/page', fields: { 'Content-Length': '0' } })
    connection.send(`${post}${formatRequest({ target: '/live', fields: webSocket })}bye`)
    const received = (await connection.rest()).toString()
    // Node's engine closes the connection. The native engine relays the request after the response.
    const isClosed = !received.includes('101 Switching') && !received.includes('bye')
    const isBehind = /^HTTP\/1.1 200 [^]+POST \/page HTTP\/1.1 101 [^]+bye$/.test(received)
    expect(isClosed || isBehind).toBe(true)
  })

  test('gets no upgrade for a host that is not allowed', async () => {
    const connection = await open({ allowHosts: ['example.com'] })
    connection.send(formatRequest({ target: '/live', fields: { ...webSocket, Host: 'example.org' } }))
    expect((await connection.receive()).status).toBe(421)
  })

  test('gets no upgrade for a request without a host', async () => {
    const connection = await open()
    connection.send('GET /live HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
    expect((await connection.receive()).status).toBe(400)
  })

  test('may throw, which closes only that connection', async () => {
    const command = spawnCommand([directory, '--ssr', entry, '--port', '0'])
    const { port } = await command.listening
    const connection = await openConnection(port)
    connection.send(formatRequest({ target: '/throws', fields: webSocket }))
    expect(await connection.rest()).toHaveLength(0)
    const next = await openConnection(port)
    next.send(formatRequest({ target: '/live', fields: webSocket }))
    expect(await echoOf(next, 'still here, bye')).toBe('still here, bye')
    command.child.kill('SIGTERM')
    const { code, stderr } = await command.exited
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/the application failed \(GET \/throws\): Error: no socket today/),
    ])
  })

  test('keeps its connections while the server stops, as long as responses in progress', async () => {
    const command = spawnCommand([directory, '--ssr', entry, '--port', '0', '--grace', '1s'])
    const { port } = await command.listening
    const connection = await openConnection(port)
    connection.send(formatRequest({ target: '/live', fields: webSocket }))
    expect((await connection.receive()).status).toBe(101)
    command.child.kill('SIGTERM')
    connection.send('before the end')
    await once(connection.socket, 'data')
    expect((await connection.rest()).toString()).toBe('before the end')
    expect((await command.exited).code).toBe(0)
  })

  test('adds one log line for each connection when it closes', async () => {
    const command = spawnCommand([directory, '--ssr', entry, '--port', '0', '--access-log', 'json'])
    const { port } = await command.listening
    const connection = await openConnection(port)
    connection.send(formatRequest({ target: '/live', fields: webSocket }))
    expect(await echoOf(connection, 'logged, bye')).toBe('logged, bye')
    command.child.kill('SIGTERM')
    const lines = (await command.exited).stdout.split('\n').filter((line) => line.includes('"/live"'))
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([{ status: 101 }])
  })
})
