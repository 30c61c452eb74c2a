import { connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { freePort } from '../support/free-port.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startListener } from '../support/start-listener.ts'
import { startServer } from '../support/start-server.ts'
import { ok, startTarget, type Target } from '../support/start-target.ts'

const directory = await buildFixture({ 'index.html': 'the page' })

async function serveRule(url: string, rule: object = {}, folder = directory) {
  const redirects = [{ from: '/api/*', to: url, status: 200, force: true, ...rule }] as const
  return await startServer(folder, { site: { rules: { redirects } } })
}

const headOf = (size: number): string => `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(size)}\r\n`

describe('a target that fails', () => {
  test.each<[string, (target: Target) => string, Parameters<typeof startTarget>[0]]>([
    ['refuses the connection', () => 'http://127.0.0.1:1', undefined],
    ['has an unknown name', () => 'http://backend.invalid:80', undefined],
    ['is no unix socket', () => 'unix:/nonexistent/api.sock', undefined],
    ['resets the connection', ({ url }) => url, (_request, socket) => void socket.resetAndDestroy()],
    ['closes the connection', ({ url }) => url, (_request, socket) => void socket.end()],
    [
      'closes within the head',
      ({ url }) => url,
      (_request, socket) => void socket.end('HTTP/1.1 200 OK\r\nA: '),
    ],
    ['speaks no HTTP', ({ url }) => url, (_request, socket) => void socket.write('SSH-2.0-OpenSSH\r\n')],
    [
      'sends two lengths',
      ({ url }) => url,
      (_r, socket) =>
        void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok'),
    ],
    [
      'sends length and chunks',
      ({ url }) => url,
      (_r, socket) =>
        void socket.write(
          'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
        ),
    ],
    [
      'folds a field',
      ({ url }) => url,
      (_r, socket) => void socket.write('HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 2\r\n\r\nok'),
    ],
    [
      'sends bare line feeds',
      ({ url }) => url,
      (_r, socket) => void socket.write('HTTP/1.1 200 OK\nContent-Length: 2\n\nok'),
    ],
    [
      'switches protocols unasked',
      ({ url }) => url,
      (_r, socket) =>
        void socket.write(
          'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
        ),
    ],
    [
      'sends a head above 64 KB',
      ({ url }) => url,
      (_request, socket) => void socket.write(`${headOf(70_000)}\r\n`),
    ],
    ['sends an endless head', ({ url }) => url, (_request, socket) => void socket.write(headOf(200_000))],
    [
      'floods with informational answers',
      ({ url }) => url,
      (_r, socket) => void socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(100) + ok),
    ],
  ])('and %s is a 502', async (_how, urlOf, answer) => {
    const target = await startTarget(answer)
    const { port } = await serveRule(urlOf(target))
    const connection = await openConnection(port)
    connection.send(formatRequest({ target: '/api/x' }))
    const response = await connection.receive()
    expect([response.status, response.field('Cache-Control')]).toEqual([502, 'no-store'])
    expect(response.body.toString()).toBe('502 Bad Gateway\n')
    // The connection stays usable, and other paths work.
    connection.send(formatRequest({ target: '/' }))
    expect((await connection.receive()).body.toString()).toBe('the page')
    connection.socket.destroy()
  })

  test('and refuses the connection is a 502 for a body, also if the client does not send all of it', async () => {
    const { port } = await serveRule('http://127.0.0.1:1')
    for (const body of ['whole', 'w']) {
      const connection = await openConnection(port)
      connection.send(
        formatRequest({ method: 'POST', target: '/api/x', fields: { 'Content-Length': '5' } }) + body,
      )
      expect((await connection.receive()).status).toBe(502)
      connection.socket.destroy()
    }
    expect((await rawRequest(port)).status).toBe(200)
  })

  test('and speaks no TLS is a 502', async () => {
    const plain = await startListener((_request, response) => response.end())
    const { port } = await serveRule(`https://127.0.0.1:${plain}`)
    expect((await rawRequest(port, { target: '/api/x' })).status).toBe(502)
  })

  test('and sends no head in time is a 504', async () => {
    const target = await startTarget(() => {})
    const { port } = await serveRule(target.url, { timeout: '200ms' })
    const response = await rawRequest(port, { target: '/api/x' })
    expect([response.status, response.field('Cache-Control')]).toEqual([504, 'no-store'])
    await target.allClosed()
  })

  test('and is silent within a body is cut off, unless it sends events', async () => {
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n'
    const type = 'Content-Type: text/event-stream\r\n'
    const target = await startTarget(({ line }, socket) => {
      const isStream = line.includes('stream')
      socket.write(`${head}${isStream ? type : ''}\r\n3\r\none\r\n`)
      if (isStream) setTimeout(() => socket.write('3\r\ntwo\r\n0\r\n\r\n'), 700)
    })
    const { port } = await serveRule(target.url, { timeout: '200ms' })
    const stream = rawRequest(port, { target: '/api/stream' })
    await expect(rawRequest(port, { target: '/api/x' })).rejects.toThrow('closed after')
    expect((await stream).body.toString()).toBe('onetwo')
  })

  test('gets navigations the pages of the build', async () => {
    const target = await startTarget(() => {})
    const pages = { 'index.html': 'page', '504.html': '<p>slow', '50x.html': '<p>broken' }
    const rules = [
      { from: '/down/*', to: 'http://127.0.0.1:1', status: 200 },
      { from: '/slow/*', to: target.url, status: 200, timeout: '100ms' },
    ] as const
    const { port } = await startServer(await buildFixture(pages), { site: { rules: { redirects: rules } } })
    const ask = async (path: string, fields: Readonly<Record<string, string>>) => {
      const { status, body, field } = await rawRequest(port, { target: path, fields })
      return [status, body.toString(), field('Cache-Control')]
    }
    const navigation = { 'Sec-Fetch-Mode': 'navigate' }
    expect(await ask('/down/x', navigation)).toEqual([502, '<p>broken', 'no-store'])
    expect(await ask('/slow/x', navigation)).toEqual([504, '<p>slow', 'no-store'])
    expect(await ask('/down/x', { 'Sec-Fetch-Mode': 'cors' })).toEqual([502, '502 Bad Gateway\n', 'no-store'])
  })

  test('passes its own errors on', async () => {
    const target = await startTarget(
      (_request, socket) => void socket.write(ok.replace('200 OK', '503 Busy')),
    )
    const { port } = await serveRule(target.url)
    expect((await rawRequest(port, { target: '/api/x' })).status).toBe(503)
  })

  test('is named in the log by its rule, address and cause, but clients do not see the address', async () => {
    const server = spawnCommand([directory, '--port', '0', '--proxy', '/api=http://127.0.0.1:1'])
    const { port } = await server.listening
    const { status, body } = await rawRequest(port, { target: '/api/x' })
    expect([status, body.includes('127.0.0.1:1')]).toEqual([502, false])
    server.child.kill()
    expect((await server.exited).stderr).toContain(
      'serve-dist: the target of the rule /api/* failed: http://127.0.0.1:1: ECONNREFUSED. Start it, or correct the address.\n',
    )
  })

  test('is named in the log if it fails within its answer', async () => {
    const target = await startTarget((_request, socket) => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart')
    })
    const server = spawnCommand([directory, '--port', '0', '--proxy', `/api=${target.url}`])
    const { port } = await server.listening
    await expect(rawRequest(port, { target: '/api/x' })).rejects.toThrow('closed after')
    server.child.kill()
    expect((await server.exited).stderr).toBe(
      `serve-dist: the target of the rule /api/* failed within its answer: ${target.url}: other side closed\n`,
    )
  })

  test('works again when it is back', async () => {
    const port = await freePort()
    const server = await serveRule(`http://127.0.0.1:${port}`)
    expect((await rawRequest(server.port, { target: '/api/x' })).status).toBe(502)
    const target = await startTarget(undefined, { port })
    expect((await rawRequest(server.port, { target: '/api/x' })).status).toBe(200)
    expect(target.requests).toHaveLength(1)
  })
})

/** Answers each first request on a connection, and closes at the second. */
async function startClosing(first: string, then: (socket: Socket) => void): Promise<Target> {
  const seen = new WeakSet()
  return await startTarget((_request, socket) => {
    if (seen.has(socket)) then(socket)
    else socket.write(first)
    seen.add(socket)
  })
}

describe('a kept connection that the target closes', () => {
  test.each([
    ['GET', '', 200, 3],
    ['DELETE', '', 200, 3],
    ['POST', '', 502, 2],
    ['PUT', 'body', 502, 2],
  ])('before the answer to %s %j: %i', async (method, body, status, sent) => {
    const target = await startClosing(ok, (socket) => void socket.resetAndDestroy())
    const { port } = await serveRule(target.url)
    expect((await rawRequest(port, { target: '/api/1' })).status).toBe(200)
    const fields = body === '' ? {} : { 'Content-Length': String(body.length) }
    expect((await rawRequest(port, { target: '/api/2', method, body, fields })).status).toBe(status)
    expect(target.requests).toHaveLength(sent)
    expect(target.connections()).toBe(status === 200 ? 2 : target.connections())
  })

  test('is not tried again on a new connection that is closed, or after the first byte', async () => {
    const closing = await startTarget((_request, socket) => void socket.end())
    const first = await serveRule(closing.url)
    expect((await rawRequest(first.port, { target: '/api/x' })).status).toBe(502)
    expect(closing.requests).toHaveLength(1)

    const target = await startClosing(ok, (socket) => void socket.end('HTTP/1.1 2'))
    const { port } = await serveRule(target.url)
    await rawRequest(port, { target: '/api/1' })
    expect((await rawRequest(port, { target: '/api/2' })).status).toBe(502)
    expect(target.requests).toHaveLength(2)
  })

  test('is tried again once', async () => {
    const answers = [ok]
    const target = await startTarget((_request, socket) => {
      const answer = answers.pop()
      if (answer === undefined) socket.end()
      else socket.write(answer)
    })
    const { port } = await serveRule(target.url)
    await rawRequest(port, { target: '/api/1' })
    expect((await rawRequest(port, { target: '/api/2' })).status).toBe(502)
    expect(target.requests).toHaveLength(3)
  })
})

test('a request with a body is a 502 if the target is down, and the server continues', async () => {
  const { port } = await serveRule('http://127.0.0.1:1')
  const upload = { method: 'POST', target: '/api/x', fields: { 'Content-Length': '5' }, body: 'hello' }
  expect((await rawRequest(port, upload)).status).toBe(502)
  expect((await rawRequest(port, { target: '/' })).status).toBe(200)
})

test('a client that leaves before the head ends the request at the target', async () => {
  const target = await startTarget(() => {})
  const { port } = await serveRule(target.url)
  const socket = connect(port, '127.0.0.1')
  socket.write(formatRequest({ target: '/api/x' }))
  while (target.requests.length === 0) await new Promise((resolve) => setImmediate(resolve))
  socket.destroy()
  await target.allClosed()
  expect(target.requests).toHaveLength(1)
})
