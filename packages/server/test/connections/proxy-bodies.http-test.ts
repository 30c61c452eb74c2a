import { once } from 'node:events'
import { connect } from 'node:http2'
import type { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { startServer } from '../support/start-server.ts'
import { ok, startTarget } from '../support/start-target.ts'
import { waitForReset } from '../support/wait-for-reset.ts'

const directory = await buildFixture({ 'index.html': 'the page', 'api/file.js': 'file' })

async function serveRule(url: string, rule: object = {}, options: Parameters<typeof startServer>[1] = {}) {
  const redirects = [{ from: '/api/*', to: url, status: 200, force: true, ...rule }] as const
  return await startServer(directory, { ...options, site: { rules: { redirects } } })
}

describe('the body of a request', () => {
  test.each([
    ['with a length', 'Content-Length: 5\r\n\r\nhello'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;a=b\r\nllo\r\n0\r\nX-Trailer: 1\r\n\r\n'],
    ['after `Expect`, at once', 'Expect: 100-continue\r\nContent-Length: 5\r\n\r\nhello'],
  ])('arrives %s, and the connection stays usable', async (_how, rest) => {
    const target = await startTarget()
    const { port } = await serveRule(target.url)
    const connection = await openConnection(port)
    for (let count = 0; count < 3; count += 1) {
      connection.send(`POST /api/x HTTP/1.1\r\nHost: a\r\n${rest}`)
      const first = await connection.receive()
      const last = rest.startsWith('Expect') ? await connection.receive() : first
      expect([first.status, last.status]).toEqual([rest.startsWith('Expect') ? 100 : 200, 200])
    }
    expect(target.requests.map(({ body }) => body)).toEqual(['hello', 'hello', 'hello'])
    expect(target.connections()).toBe(1)
    connection.socket.destroy()
  })

  test('is awaited only after the target is connected', async () => {
    const { port } = await serveRule('http://127.0.0.1:1')
    const connection = await openConnection(port)
    connection.send('POST /api/x HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n')
    const response = await connection.receive()
    expect([response.status, response.field('Connection')]).toEqual([502, 'close'])
    expect(await connection.rest()).toHaveLength(0)
  })

  test('is streamed with backpressure', async () => {
    const { promise, resolve } = deferred<Socket>()
    const target = await startTarget(undefined, { onHead: (_head, socket) => resolve(socket.pause()) })
    const { port } = await serveRule(target.url, { bodyLimit: '1gb' })
    const connection = await openConnection(port)
    const size = 64 * 1024 * 1024
    connection.send(
      formatRequest({ method: 'PUT', target: '/api/x', fields: { 'Content-Length': String(size) } }),
    )
    const chunk = Buffer.alloc(1024 * 1024)
    let sent = 0
    while (sent < size && connection.socket.write(chunk)) sent += chunk.length
    for (let more = 0; more < 40; more += 1) connection.socket.write(chunk)
    // The kernel's buffers are smaller than the rest.
    expect(await drains(connection.socket)).toBe(false)
    connection.socket.destroy()
    await once((await promise).resume(), 'close')
  })

  test.each([
    ['its length', 'Content-Length: 11\r\n\r\n', true],
    ['its bytes', 'Transfer-Encoding: chunked\r\n\r\n6\r\n123456\r\n6\r\n123456\r\n0\r\n\r\n', false],
  ])('is refused by %s if it is too large', async (_how, rest, isKnown) => {
    const target = await startTarget()
    const { port } = await serveRule(target.url, { bodyLimit: 10 })
    const connection = await openConnection(port)
    connection.send(`POST /api/x HTTP/1.1\r\nHost: a\r\n${rest}`)
    const response = await connection.receive()
    expect([response.status, response.field('Cache-Control')]).toEqual([413, 'no-store'])
    expect(target.requests).toHaveLength(0)
    expect(isKnown ? target.connections() : 0).toBe(0)
    connection.socket.destroy()
    expect(
      (
        await rawRequest(port, {
          target: '/api/x',
          method: 'POST',
          fields: { 'Content-Length': '10' },
          body: '1234567890',
        })
      ).status,
    ).toBe(200)
  })

  test('may get an answer before its end', async () => {
    const target = await startTarget(undefined, {
      onHead: (_head, socket) =>
        void socket.write('HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\nno'),
    })
    const { port } = await serveRule(target.url)
    const connection = await openConnection(port)
    connection.send('POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nhello')
    const response = await connection.receive()
    expect([response.status, response.field('Connection'), response.body.toString()]).toEqual([
      401,
      'close',
      'no',
    ])
    connection.send('x'.repeat(995) + formatRequest({ target: '/api/file.js' }))
    expect(await connection.rest()).toHaveLength(0)
  })

  test('ends at the target without an end if the client leaves', async () => {
    const { promise, resolve } = deferred<Socket>()
    const target = await startTarget(undefined, { onHead: (_head, socket) => resolve(socket) })
    const { port } = await serveRule(target.url)
    const connection = await openConnection(port)
    connection.send('POST /api/x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\nhello')
    const socket = await promise
    connection.socket.destroy()
    await once(socket, 'close')
    expect(target.requests).toHaveLength(0)
  })

  test('arrives without a length over HTTP/2', async () => {
    const target = await startTarget()
    const { port } = await serveRule(target.url, { bodyLimit: 10 }, { tls: await writeCertificate() })
    const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    const statuses: unknown[] = []
    for (const body of ['hello', 'hello, hello']) {
      const stream = session.request({ ':method': 'POST', ':path': '/api/x' })
      stream.on('error', () => {})
      stream.end(body)
      const [headers] = await once(stream, 'response')
      statuses.push(headers[':status'])
      stream.resume()
    }
    session.destroy()
    expect(statuses).toEqual([200, 413])
    expect(target.requests.map(({ body }) => body)).toEqual(['hello'])
  })
})

test('the rest of an upload over HTTP/2 is discarded if the target is down', async () => {
  const { port } = await serveRule('http://127.0.0.1:1', {}, { tls: await writeCertificate() })
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  const stream = session.request({ ':method': 'POST', ':path': '/api/x' })
  stream.write('hello')
  const [headers] = await once(stream.resume(), 'response')
  expect(headers[':status']).toBe(502)
  // More than the window of the stream.
  stream.end('x'.repeat(1_000_000))
  await once(stream, 'close')
  session.destroy()
})

describe('the body of an answer', () => {
  test.each([
    ['with a length', 'Content-Length: 5\r\n\r\nhello', 'GET', 'length', 'hello'],
    ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n', 'GET', 'chunked', 'hello'],
    ['of a HEAD', 'Content-Length: 5\r\n\r\n', 'HEAD', 'none', ''],
    ['of a range', 'Content-Range: bytes 0-4/9\r\nContent-Length: 5\r\n\r\nhello', 'GET', 'length', 'hello'],
  ])('arrives %s', async (_how, rest, method, framing, body) => {
    const target = await startTarget((_request, socket) => void socket.write(`HTTP/1.1 200 OK\r\n${rest}`))
    const { port } = await serveRule(target.url)
    const response = await rawRequest(port, { target: '/api/x', method })
    expect([response.framing, response.body.toString()]).toEqual([framing, body])
    expect(response.field('Content-Length')).toBe(rest.startsWith('Tr') ? undefined : '5')
  })

  test.each([
    ['204', 'HTTP/1.1 204 No Content\r\n\r\n'],
    ['304', 'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 9\r\n\r\n'],
  ])('is missing in a %s, and the connection stays usable', async (status, text) => {
    const target = await startTarget((_request, socket) => void socket.write(text))
    const { port } = await serveRule(target.url)
    const connection = await openConnection(port)
    for (let count = 0; count < 2; count += 1) {
      connection.send(formatRequest({ target: '/api/x' }))
      expect(String((await connection.receive()).status)).toBe(status)
    }
    connection.send(formatRequest({ target: '/' }))
    expect((await connection.receive()).body.toString()).toBe('the page')
    connection.socket.destroy()
  })

  test.each(['HTTP/1.1', 'HTTP/1.0'])('ends with the connection of the target, over %s', async (version) => {
    const target = await startTarget(
      (_request, socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\nto the end'),
    )
    const { port } = await serveRule(target.url)
    const response = await rawRequest(port, { target: '/api/x', version })
    expect([response.framing, response.body.toString()]).toEqual([
      version === 'HTTP/1.0' ? 'close' : 'chunked',
      'to the end',
    ])
  })

  test('arrives while it is sent', async () => {
    const sockets: Socket[] = []
    const target = await startTarget((_request, socket) => {
      sockets.push(socket)
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n')
    })
    const { port } = await serveRule(target.url)
    const connection = await openConnection(port)
    connection.send(formatRequest({ target: '/api/x', fields: { 'Accept-Encoding': 'gzip' } }))
    for (const text of ['text/event-stream', 'data: 1', 'data: 2']) {
      if (text !== 'text/event-stream') sockets[0]?.write(`${text}\n\n`)
      expect(await untilReceived(connection.socket, text)).toContain(text)
    }
    connection.socket.destroy()
    await target.allClosed()
  })

  test.each([
    ['a length', 'HTTP/1.1', 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf'],
    ['chunks', 'HTTP/1.1', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
    ['chunks for HTTP/1.0', 'HTTP/1.0', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n'],
    ['broken chunks', 'HTTP/1.1', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nx'],
  ])('with %s is never ended as if whole', async (_how, version, text) => {
    const half = deferred<void>()
    const target = await startTarget((_request, socket) => {
      socket.write(text)
      void half.promise.then(() => socket.destroy())
    })
    const { port } = await serveRule(target.url)
    const connection = await openConnection(port)
    connection.socket.on('data', (chunk) => {
      if (String(chunk).includes('half')) half.resolve()
    })
    connection.send(formatRequest({ target: '/api/x', version }))
    const wasReset = waitForReset(connection.socket)
    await connection.receive().then(
      (response) => expect(response.framing).toBe('close'),
      (error: unknown) => expect(String(error)).toContain('closed after'),
    )
    const isReset = await wasReset
    // Over HTTP/1.0 only a reset differs from the end.
    expect(version === 'HTTP/1.0' ? isReset : true).toBe(true)
  })

  test('stops if the client leaves', async () => {
    const { promise, resolve } = deferred<Socket>()
    const target = await startTarget((_request, socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nstart')
      resolve(socket)
    })
    const { port } = await serveRule(target.url)
    const connection = await openConnection(port)
    connection.send(formatRequest({ target: '/api/x' }))
    const socket = await promise
    connection.socket.destroy()
    await once(socket, 'close')
    expect(socket.destroyed).toBe(true)
  })
})

test('keeps pipelined requests in order', async () => {
  const target = await startTarget((request, socket) => {
    const body = request.line.split(' ')[1] ?? ''
    setTimeout(
      () =>
        socket.write(ok.replace('Content-Length: 2', `Content-Length: ${body.length}`).replace('ok', body)),
      body.endsWith('1') ? 30 : 0,
    )
  })
  const { port } = await serveRule(target.url)
  const connection = await openConnection(port)
  const paths = ['/api/1', '/', '/api/2', '/api/3']
  connection.send(paths.map((path) => formatRequest({ target: path })).join(''))
  const bodies: string[] = []
  while (bodies.length < paths.length) bodies.push((await connection.receive()).body.toString())
  expect(bodies).toEqual(['/api/1', 'the page', '/api/2', '/api/3'])
  connection.socket.destroy()
})

/** Node 20 lacks `Promise.withResolvers`. */
function deferred<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  const settled: { resolve: (value: Value) => void } = { resolve: () => {} }
  const promise = new Promise<Value>((resolve) => {
    settled.resolve = resolve
  })
  return { promise, resolve: (value) => settled.resolve(value) }
}

async function drains(socket: Socket): Promise<boolean> {
  const { promise, resolve } = deferred<boolean>()
  socket.once('drain', () => resolve(true))
  setTimeout(() => resolve(false), 300)
  return await promise
}

async function untilReceived(socket: Socket, text: string): Promise<string> {
  const { promise, resolve } = deferred<string>()
  let received = ''
  const listen = (chunk: Buffer): void => {
    received += chunk.toString('latin1')
    if (received.includes(text)) resolve(received)
  }
  socket.on('data', listen)
  const all = await promise
  socket.off('data', listen)
  return all
}
