import { once } from 'node:events'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { arrayBuffersInUse } from '../support/array-buffers-in-use.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { dialTls } from '../support/dial-tls.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { type Connection, openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { requestTwice } from '../support/request-twice.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

const small = compressibleText(5000)
const large = compressibleText(600_000)

let held: StartedServer
let streamed: StartedServer
let uploads: StartedServer
let encrypted: StartedServer
beforeAll(async () => {
  const directory = await buildFixture({
    'index.html': 'page',
    'docs/index.html': 'docs',
    'small.js': small,
    'large.js': large,
    'empty.txt': '',
  })
  held = await startServer(directory)
  streamed = await startServer(directory, { site: { memoryBudget: 0 } })
  encrypted = await startServer(directory, { tls: await writeCertificate() })
  const modules = await writeFixture({
    'entry.mjs': `
const seen = []
let noteLate
const late = new Promise((resolve) => { noteLate = resolve })
export default async (request, response) => {
  seen.push(request.url)
  if (request.url === '/late') noteLate(response)
  else if (request.url === '/seen') response.end(seen.join())
  else if (request.url === '/release') (await late).end(() => response.end())
  else request.pipe(response)
}`,
  })
  uploads = await startServer(directory, { ssr: join(modules, 'entry.mjs'), site: { memoryBudget: 0 } })
})

/** Fails unless the connection answers one more request correctly. */
async function expectUsable(connection: Connection): Promise<void> {
  connection.send(formatRequest({ target: '/' }))
  const response = await connection.receive()
  expect([response.status, response.body.toString()]).toEqual([200, 'page'])
}

async function receiveStatuses(connection: Connection, count: number): Promise<number[]> {
  const statuses = []
  for (let index = 0; index < count; index += 1) statuses.push((await connection.receive()).status)
  return statuses
}

describe.each([
  ['bodies in memory', () => held],
  ['bodies streamed', () => streamed],
])('a connection, %s', (_how, serverOf) => {
  test('stays open after every kind of response', async () => {
    const connection = await openConnection(serverOf().port)
    const requests = [
      [{ target: '/large.js' }, 200],
      [{ target: '/large.js', fields: { Range: 'bytes=5-70000' } }, 206],
      [{ target: '/small.js', fields: { 'If-None-Match': '*' } }, 304],
      [{ target: '/small.js', fields: { 'If-Match': '"x"' } }, 412],
      [{ target: '/small.js', fields: { Range: 'bytes=99999999-' } }, 416],
      [{ target: '/small.js', fields: { 'Accept-Encoding': '*;q=0' } }, 406],
      [{ target: '/docs' }, 308],
      [{ target: '/unknown' }, 404],
      [{ target: '/%' }, 400],
      [{ target: '/', method: 'POST' }, 405],
      [{ target: '/', method: 'OPTIONS' }, 204],
      [{ target: '/large.js', method: 'HEAD' }, 200],
      [{ target: '/unknown', method: 'HEAD' }, 404],
      [{ target: '/empty.txt' }, 200],
    ] as const
    for (const [request, status] of requests) {
      connection.send(formatRequest(request))
      const response = await connection.receive('method' in request ? request.method : 'GET')
      expect([request, response.status]).toEqual([request, status])
      expect(response.field('Connection')).toBe('keep-alive')
      expect(response.field('Keep-Alive')).toBe('timeout=65')
      expect(response.framing).not.toBe('chunked')
    }
    connection.socket.end()
    expect(await connection.rest()).toHaveLength(0)
  })

  test('answers pipelined requests in order', async () => {
    const connection = await openConnection(serverOf().port)
    const requests = [
      { target: '/large.js' },
      { target: '/large.js', method: 'HEAD' },
      { target: '/small.js' },
      { target: '/large.js', fields: { 'If-None-Match': '*' } },
      { target: '/large.js', fields: { Range: 'bytes=-9' } },
      { target: '/unknown' },
      { target: '/unknown', method: 'HEAD' },
      { target: '/', method: 'OPTIONS' },
      { target: '/large.js', fields: { 'Accept-Encoding': 'br' } },
      { target: '/empty.txt' },
      { target: '/' },
    ] as const
    connection.send(requests.map((request) => formatRequest(request)).join(''))
    const answers = []
    for (const request of requests) {
      const method = 'method' in request ? request.method : 'GET'
      const { status, body } = await connection.receive(method)
      answers.push([status, body.length])
    }
    const br = await requestTwice(serverOf().port, {
      target: '/large.js',
      fields: { 'Accept-Encoding': 'br' },
    })
    expect(answers).toEqual([
      [200, large.length],
      [200, 0],
      [200, small.length],
      [304, 0],
      [206, 9],
      [404, 14],
      [404, 0],
      [204, 0],
      [200, br.body.length],
      [200, 0],
      [200, 4],
    ])
    connection.socket.end()
    expect(await connection.rest()).toHaveLength(0)
  })

  test('answers many pipelined requests at once', async () => {
    const connection = await openConnection(serverOf().port)
    const count = 300
    connection.send(formatRequest({ target: '/small.js' }).repeat(count))
    for (let index = 0; index < count; index += 1) {
      const { status, body } = await connection.receive()
      expect([status, body.length]).toEqual([200, small.length])
    }
    connection.socket.destroy()
  })

  test('answers a request that arrives octet by octet', async () => {
    const connection = await openConnection(serverOf().port)
    const request = { target: '/small.js', fields: { 'Accept-Encoding': 'gzip' } }
    await requestTwice(serverOf().port, request)
    for (const octet of formatRequest(request)) {
      connection.send(octet)
      await new Promise((resolve) => setImmediate(resolve))
    }
    const response = await connection.receive()
    expect([response.status, response.field('Content-Encoding')]).toEqual([200, 'gzip'])
    connection.socket.destroy()
  })

  test('is closed after the response if the client asks for it', async () => {
    for (const target of ['/large.js', '/unknown', '/docs', '/']) {
      const response = await requestTwice(serverOf().port, { target })
      expect(response.field('Connection')).toBe('close')
    }
  })

  test('gets the whole response after the client closed its half', async () => {
    const connection = await openConnection(serverOf().port)
    connection.socket.end(formatRequest({ target: '/large.js' }))
    const response = await connection.receive()
    expect(response.body.toString()).toBe(large)
  })
})

describe('HTTP/1.0', () => {
  test('gets a length and is closed', async () => {
    for (const { port } of [held, streamed]) {
      const connection = await openConnection(port)
      connection.send('GET /large.js HTTP/1.0\r\n\r\n')
      const response = await connection.receive()
      expect([response.status, response.framing, response.body.length]).toEqual([200, 'length', large.length])
      expect(response.field('Connection')).toBe('close')
      expect(await connection.rest()).toHaveLength(0)
    }
  })

  test('stays open if the client asks for it', async () => {
    const connection = await openConnection(held.port)
    for (let index = 0; index < 2; index += 1) {
      connection.send('GET /small.js HTTP/1.0\r\nConnection: keep-alive\r\n\r\n')
      const response = await connection.receive()
      expect([response.status, response.field('Connection')]).toEqual([200, 'keep-alive'])
    }
    connection.socket.destroy()
  })
})

describe('Upgrade', () => {
  test.each(['websocket', 'h2c', 'TLS/1.2'])(
    'to %s is ignored, as RFC 9110 §7.8 allows',
    async (protocol) => {
      const connection = await openConnection(held.port)
      connection.send(formatRequest({ fields: { Connection: 'Upgrade, HTTP2-Settings', Upgrade: protocol } }))
      const response = await connection.receive()
      expect([response.status, response.body.toString()]).toEqual([200, 'page'])
      await expectUsable(connection)
      connection.socket.destroy()
    },
  )

  test.each([
    ['TCP', () => held.port, undefined],
    ['TLS', () => encrypted.port, dialTls],
  ] as const)(
    'drops requests that Node read along with it, over %s, but answers later ones correctly',
    async (_how, portOf, dial) => {
      // Node 20.20 to 26.10: its parser stops after the request, as if the protocol changed.
      const connection = await openConnection(portOf(), dial)
      const upgrade = { Connection: 'Upgrade', Upgrade: 'h2c' }
      connection.send(formatRequest({ fields: upgrade }) + formatRequest({ target: '/small.js' }))
      expect((await connection.receive()).body.toString()).toBe('page')
      await expectUsable(connection)
      connection.socket.destroy()
    },
  )
})

test('a long pipeline over TLS may end in a 400 of Node, after whole responses', async () => {
  // Node 20.20 to 26.10 feed a parser that they have paused (HPE_PAUSED).
  const connection = await openConnection(encrypted.port, dialTls)
  const count = 3000
  connection.send(formatRequest({ target: '/small.js' }).repeat(count - 1))
  connection.send(formatRequest({ target: '/small.js', fields: { Connection: 'close' } }))
  for (let index = 0; index < count; index += 1) {
    const { status, body } = await connection.receive()
    if (status === 400 && index > 0) break
    expect([status, body.toString()]).toEqual([200, small])
  }
  expect(await connection.rest()).toHaveLength(0)
})

describe('Expect', () => {
  test('answers 100-continue at once and closes, if no application reads bodies', async () => {
    for (const [target, status] of [
      ['/small.js', 405],
      ['/unknown', 404],
    ] as const) {
      const connection = await openConnection(held.port)
      const fields = { Expect: '100-continue', 'Content-Length': '5' }
      connection.send(formatRequest({ method: 'POST', target, fields }))
      const response = await connection.receive()
      expect([response.status, response.field('Connection')]).toEqual([status, 'close'])
      // A client may send its body anyway.
      connection.send(`12345${formatRequest({ target: '/small.js' })}`)
      expect(await connection.rest()).toHaveLength(0)
    }
  })

  test('answers 100-continue after the response in progress, and nothing after that', async () => {
    for (const { port } of [held, streamed]) {
      const connection = await openConnection(port)
      const fields = { Expect: '100-continue', 'Content-Length': '5' }
      connection.send(
        formatRequest({ target: '/large.js' }) +
          formatRequest({ method: 'POST', target: '/small.js', fields }) +
          `12345${formatRequest({ target: '/small.js' })}`,
      )
      expect((await connection.receive()).status).toBe(200)
      expect((await connection.receive()).status).toBe(405)
      expect(await connection.rest()).toHaveLength(0)
    }
  })

  test('sends 100, then the response, if an application may read the body', async () => {
    const connection = await openConnection(uploads.port)
    const fields = { Expect: '100-continue', 'Content-Length': '5' }
    connection.send(formatRequest({ method: 'POST', target: '/upload', fields }))
    expect((await connection.receive()).status).toBe(100)
    connection.send('12345')
    expect((await connection.receive()).body.toString()).toBe('12345')
    await expectUsable(connection)
    connection.socket.destroy()
  })

  test('sends 100 right before the head of its response, after the response in progress', async () => {
    const connection = await openConnection(uploads.port)
    const fields = { Expect: '100-continue', 'Content-Length': '5' }
    connection.send(
      formatRequest({ target: '/large.js' }) +
        `${formatRequest({ method: 'POST', target: '/upload', fields })}12345` +
        'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n',
    )
    expect(await receiveStatuses(connection, 4)).toEqual([200, 100, 200, 400])
    expect(await connection.rest()).toHaveLength(0)
  })

  test('answers a request that arrived with it while an earlier response was in progress', async () => {
    const connection = await openConnection(uploads.port)
    const fields = { Expect: '100-continue', 'Content-Length': '5' }
    connection.send(
      formatRequest({ target: '/late' }) +
        `${formatRequest({ method: 'POST', target: '/upload', fields })}12345` +
        formatRequest({ target: '/small.js' }),
    )
    await rawRequest(uploads.port, { target: '/release' })
    expect(await receiveStatuses(connection, 4)).toEqual([200, 100, 200, 200])
    await expectUsable(connection)
    connection.socket.destroy()
  })

  test('does not pass on a request that arrived with it if its answer closes the connection', async () => {
    const connection = await openConnection(uploads.port)
    const fields = { Expect: '100-continue' }
    connection.send(
      formatRequest({ target: '/large.js', fields }) + formatRequest({ method: 'POST', target: '/unseen' }),
    )
    const response = await connection.receive()
    expect([response.status, response.field('Connection')]).toEqual([200, 'close'])
    expect(await connection.rest()).toHaveLength(0)
    const seen = await rawRequest(uploads.port, { target: '/seen' })
    expect(seen.body.toString().split(',')).not.toContain('/unseen')
  })

  test.each(['the-unexpected', '100-continue, x', 'x, 100-continue', '100-continue;x=1'])(
    'answers other expectations with 417: %s',
    async (expectation) => {
      const response = await requestTwice(held.port, { target: '/', fields: { Expect: expectation } })
      expect(response.status).toBe(417)
    },
  )

  test.each(['', ','])('ignores an empty field (%j)', async (expectation) => {
    const response = await requestTwice(held.port, { target: '/', fields: { Expect: expectation } })
    expect(response.status).toBe(200)
  })
})

describe('the body of a request', () => {
  test.each([
    ['GET with a length', 'GET', { 'Content-Length': '5' }, '12345', 200],
    ['HEAD with a length', 'HEAD', { 'Content-Length': '5' }, '12345', 200],
    ['POST with a length', 'POST', { 'Content-Length': '5' }, '12345', 405],
    ['POST to an unknown path', 'POST', { 'Content-Length': '5' }, '12345', 404],
    ['GET in chunks', 'GET', { 'Transfer-Encoding': 'chunked' }, '5\r\n12345\r\n0\r\n\r\n', 200],
    ['POST in chunks', 'POST', { 'Transfer-Encoding': 'chunked' }, '5\r\n12345\r\n0\r\n\r\n', 405],
    [
      'chunks with extensions',
      'GET',
      { 'Transfer-Encoding': 'chunked' },
      '5;a=b;c="d"\r\n12345\r\n0\r\n\r\n',
      200,
    ],
    [
      'chunks with trailers',
      'GET',
      { 'Transfer-Encoding': 'chunked' },
      '1\r\nx\r\n0\r\nX-Trailer: 1\r\n\r\n',
      200,
    ],
    [
      'a body that looks like a request',
      'GET',
      { 'Content-Length': '32' },
      'GET /unknown HTTP/1.1\r\nHost: a\r\n\r',
      200,
    ],
    ['a length of zero', 'POST', { 'Content-Length': '0' }, '', 405],
  ])('%s keeps the connection in sync', async (what, method, fields, body, status) => {
    const target = what.includes('unknown path') ? '/unknown' : '/large.js'
    for (const { port } of [held, streamed]) {
      const connection = await openConnection(port)
      connection.send(formatRequest({ method, target, fields }) + body + formatRequest({ target: '/' }))
      const first = await connection.receive(method)
      expect(first.status).toBe(status)
      const second = await connection.receive()
      expect([second.status, second.body.toString()]).toEqual([200, 'page'])
      await expectUsable(connection)
      connection.socket.destroy()
    }
  })

  test('keeps the connection in sync if it arrives after the response', async () => {
    const connection = await openConnection(held.port)
    connection.send(formatRequest({ method: 'POST', target: '/', fields: { 'Content-Length': '100000' } }))
    const response = await connection.receive()
    expect(response.status).toBe(405)
    connection.send('x'.repeat(100_000))
    await expectUsable(connection)
    connection.socket.destroy()
  })

  test('is discarded, not buffered, if it has many megabytes', async () => {
    const connection = await openConnection(held.port)
    const chunk = Buffer.alloc(1024 * 1024, 'x')
    const count = 64
    connection.send(
      formatRequest({
        method: 'PUT',
        target: '/',
        fields: { 'Content-Length': String(count * chunk.length) },
      }),
    )
    const before = await arrayBuffersInUse()
    for (let index = 0; index < count; index += 1) {
      if (!connection.socket.write(chunk)) await once(connection.socket, 'drain')
    }
    expect((await arrayBuffersInUse()) - before).toBeLessThan((count * chunk.length) / 8)
    const response = await connection.receive()
    expect(response.status).toBe(405)
    await expectUsable(connection)
    connection.socket.destroy()
  })
})
