import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type OutgoingHttpHeaders,
} from 'node:http2'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { loadEngine } from '@serve-dist/engine'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { createTlsTransport } from '../../src/transport/tls/create-tls-transport.ts'
import { readTlsCredentials } from '../../src/transport/tls/tls-credentials.ts'
import type { Transport } from '../../src/transport/transport.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import {
  endHeaders,
  endStream,
  frameTypes,
  openRawHttp2,
  type RawHttp2,
  uint32,
} from '../support/open-raw-http2.ts'
import { startEngineOverTls } from '../support/start-engine-over-tls.ts'

const script = compressibleText(300_000)
const noError = 0
const protocolError = 1
const cancel = 8
const opened: { destroy(): void }[] = []
const bound: Transport[] = []
let origins: { readonly native: string; readonly node: string }
/** The paths of the requests that Node has answered. */
let handled: readonly string[] = []
let ended: readonly string[] = []
/** The events of a watched request. */
let events: readonly string[] = []

describe.skipIf(typeof loadEngine() === 'string')('the native engine over HTTP/2', () => {
  beforeAll(async () => {
    const site = await loadSite(
      await buildFixture({ 'index.html': 'page', 'app.js': script, 'empty.txt': '' }),
    )
    const files = await writeCertificate()
    const handle = createHandler(site)
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      handled = [...handled, `${request.method} ${request.url}`]
      if (request.url?.startsWith('/api/') === true) answerCall(request, response)
      else handle(request, response)
    }
    const native = await startEngineOverTls(listener, {}, site)
    const node = createTlsTransport(listener, { takesUploads: true }, await readTlsCredentials(files))
    bound.push(node)
    origins = {
      native: `https://127.0.0.1:${native.port}`,
      node: await node.listen({ host: '127.0.0.1', port: 0 }),
    }
  })
  afterAll(async () => {
    for (const each of opened) each.destroy()
    await Promise.all(bound.map((transport) => transport.drain(0)))
  })
  beforeEach(() => {
    handled = []
    ended = []
    events = []
  })

  test.each([
    ['/', {}],
    ['/app.js', {}],
    ['/app.js', { 'accept-encoding': 'br' }],
    ['/app.js?q', { 'accept-encoding': 'gzip, br' }],
    ['/app.js', { 'if-none-match': '"other"' }],
    ['/', { ':method': 'HEAD' }],
  ])('answers %s with %j without Node, as Node does', async (path, fields) => {
    const [expected, found] = await askBoth({ ':path': path, ...fields })
    expect(found).toEqual(expected)
    expect(handled).toEqual([])
  })

  test('answers 304 without Node, as Node does', async () => {
    const { fields } = await ask('node', { ':path': '/app.js' })
    const [, tag = ''] = /etag ("[^"]+")/.exec(fields) ?? []
    const [expected, found] = await askBoth({ ':path': '/app.js', 'if-none-match': tag })
    expect(found).toEqual(expected)
    expect(found.fields).toMatch(/^:status 304 /)
    expect(handled).toEqual([])
  })

  test.each([
    ['/app.js', { range: 'bytes=0-99' }],
    ['/none', {}],
    ['/empty.txt', {}],
    ['/', { ':method': 'POST' }],
    ['/', { ':method': 'OPTIONS' }],
    ['/', { 'if-none-match': '*' }],
    ['/', { host: 'localhost' }],
    ['/api/trailers', {}],
    ['/api/large', {}],
  ])('relays %s with %j', async (path, fields) => {
    const asked = { ':path': path, ...fields }
    expect(await ask('native', asked)).toEqual(await ask('node', asked))
    expect(handled).toHaveLength(2)
  })

  test('relays a whole upload', async () => {
    const stream = open('native', { ':method': 'POST', ':path': '/api/echo' })
    stream.end(script)
    expect((await buffer(stream)).equals(Buffer.from(script))).toBe(true)
  })

  test.each(['node', 'native'] as const)(
    'relays a whole upload next to 40 that nothing reads, as by %s',
    async (name) => {
      const session = dial(name)
      const still = Array.from({ length: 40 }, () => {
        const upload = session.request({ ':method': 'POST', ':path': '/api/still' })
        // More than both engines buffer of it. Node's client buffers 10 MB in total.
        upload.write(script.slice(0, 150_000))
        return upload
      })
      await vi.waitUntil(() => handled.length === 40)
      const stream = session.request({ ':method': 'POST', ':path': '/api/echo' })
      stream.end(script)
      expect((await buffer(stream)).equals(Buffer.from(script))).toBe(true)
      for (const upload of still) upload.close()
    },
  )

  test('relays a 103', async () => {
    const stream = open('native', { ':path': '/api/hint' })
    const [hint] = await once(stream, 'headers')
    expect(hint[':status']).toBe(103)
    expect((await buffer(stream)).toString()).toBe('hinted')
  })

  test('tells Node of a stream that the client cancels, and the client of one that Node cancels', async () => {
    const cancelled = open('native', { ':path': '/api/silent' })
    await vi.waitUntil(() => handled.length === 1)
    cancelled.close(8)
    await vi.waitUntil(() => ended.includes('/api/silent'))
    const givenUp = open('native', { ':path': '/api/broken' })
    const [error] = await once(givenUp, 'error')
    expect(error.message).toMatch('NGHTTP2_INTERNAL_ERROR')
  })

  test.each([
    ['cuts off', 'GET', '/api/cut', { data: 4, isEnded: false, code: noError }],
    ['cuts off before its head', 'GET', '/api/cut?head', { data: 0, isEnded: false, code: noError }],
    ['cuts off short of its length', 'GET', '/api/cut?length', { data: 4, isEnded: false, code: noError }],
    ['cuts off amid an upload', 'POST', '/api/cut', { data: 4, isEnded: false, code: noError }],
    ['ends amid an upload', 'POST', '/api/early', { data: 10, isEnded: true, code: noError }],
  ])('relays the end of a response that an application %s: %s %s', async (_how, method, path, expected) => {
    for (const name of ['node', 'native'] as const) {
      const connection = await openRaw(name)
      const flags = method === 'GET' ? endStream | endHeaders : endHeaders
      connection.request(1, { ':method': method, ':path': path }, flags)
      const { payload } = await connection.find(({ type }) => type === frameTypes.resetStream)
      const frames = connection.frames.filter(({ stream }) => stream === 1)
      const data = frames.filter(({ type }) => type === frameTypes.data)
      const found = {
        data: data.reduce((sum, piece) => sum + piece.payload.length, 0),
        isEnded: data.some((piece) => (piece.flags & endStream) > 0),
        code: payload.readUInt32BE(),
      }
      expect([name, found]).toEqual([name, expected])
    }
  })

  test.each([
    ['before its response', '/api/silent', noError, ['aborted', 'end', 'close']],
    ['before its response', '/api/silent', cancel, ['aborted', 'end', 'close']],
    ['after its response', '/api/reading', noError, ['end', 'close']],
    ['after its response', '/api/reading', cancel, ['end', 'close']],
  ])('tells Node of an upload that breaks off %s: %s with %d', async (_when, path, code, expected) => {
    for (const name of ['node', 'native'] as const) {
      const connection = await openRaw(name)
      connection.request(1, { ':method': 'POST', ':path': path }, endHeaders)
      connection.send({ type: frameTypes.data, stream: 1, payload: Buffer.from('a part') })
      if (path === '/api/reading')
        await connection.find(({ flags, type }) => type === frameTypes.data && (flags & endStream) > 0)
      else await vi.waitUntil(() => events.includes('data'))
      connection.send({ type: frameTypes.resetStream, stream: 1, payload: uint32(code) })
      await vi.waitUntil(() => events.includes('close'))
      expect([name, events.filter((event) => event !== 'data').toSorted()]).toEqual([
        name,
        expected.toSorted(),
      ])
      events = []
    }
  })

  test('serves 50 files and relays 50 streams concurrently on one session', async () => {
    const session = dial('native')
    const bodies = Array.from({ length: 100 }, async (_, index) => {
      const stream = session.request({ ':path': index % 2 === 0 ? '/api/large' : '/app.js' })
      return (await buffer(stream)).length
    })
    expect(new Set(await Promise.all(bodies))).toEqual(new Set([100_000, script.length]))
  })

  test.each([
    ['a path beyond ASCII', { ':path': '/caf\u00c3\u00a9' }],
    ['another scheme', { ':path': '/app.js', ':scheme': 'ftp' }],
  ])('rejects %s, as Node does', async (_what, asked) => {
    // The engine knows this host.
    await askBoth({ ':path': '/app.js' })
    const [expected, found] = await askBoth(asked)
    expect(found).toEqual(expected)
    expect(found.fields).toMatch(/^:status 400 /)
  })

  // docs/engine.md lists these differences. The crate h2 treats such fields as errors of the connection.
  test.each<readonly [string, Readonly<Record<string, string>>]>([
    ['a control octet in a value', { x: 'a\u0001' }],
    ['a NUL in a value', { x: '\0' }],
    ['a DEL in a value', { x: '\u007F' }],
    ['an upper-case name', { 'X-Y': 'a' }],
    ['an empty name', { '': 'a' }],
    ['a space in a name', { 'x y': 'a' }],
    ['an octet beyond ASCII in :path', { ':path': '/\u00E9' }],
    ['an octet beyond ASCII in :authority', { ':authority': '\u00E9' }],
    ['an empty :method', { ':method': '' }],
    ['a space in :method', { ':method': 'A B' }],
    ['an unknown pseudo-field', { ':x': 'a' }],
  ])('ends the session of a request with %s, unlike Node', async (_what, fields) => {
    for (const name of ['node', 'native'] as const) {
      const connection = await openRaw(name)
      connection.request(1, { ':path': '/api/silent' })
      await vi.waitUntil(() => handled.length === 1)
      connection.request(3, fields)
      connection.request(5)
      const { type, payload } = await connection.find(
        (frame) => frame.type === frameTypes.goAway || (frame.stream === 5 && (frame.flags & endStream) > 0),
      )
      const outcome = type === frameTypes.goAway ? payload.readUInt32BE(4) : 'answered'
      expect([name, outcome]).toEqual([name, name === 'native' ? protocolError : 'answered'])
      handled = []
    }
  })

  test.each<readonly [string, Readonly<Record<string, string>>]>([
    ['< in the path', { ':path': '/a<b' }],
    ['> in the path', { ':path': '/a>b' }],
    ['` in the path', { ':path': '/a`b' }],
    ['" in the query', { ':path': '/?a"b' }],
    ['an escape in :authority', { ':authority': 'local%68ost' }],
  ])('resets only the stream of a request with %s, which Node answers', async (_what, fields) => {
    for (const name of ['node', 'native'] as const) {
      const connection = await openRaw(name)
      connection.request(1, fields)
      const { type, payload } = await connection.find(({ stream }) => stream === 1)
      const outcome = type === frameTypes.resetStream ? payload.readUInt32BE() : 'answered'
      expect([name, outcome]).toEqual([name, name === 'native' ? protocolError : 'answered'])
      connection.request(3)
      await connection.find(({ stream, flags }) => stream === 3 && (flags & endStream) > 0)
    }
  })

  // docs/engine.md lists these differences.
  test.each([
    ['short of its length', '/api/long-length'],
    ['longer than its length', '/api/short-length'],
  ])('resets the stream of an answer that is %s, which Node ends', async (_what, path) => {
    for (const name of ['node', 'native'] as const) {
      const connection = await openRaw(name)
      connection.request(1, { ':path': path })
      const end = await connection.find(
        ({ stream, type, flags }) =>
          stream === 1 && (type === frameTypes.resetStream || (flags & endStream) > 0),
      )
      const outcome = end.type === frameTypes.resetStream ? end.payload.readUInt32BE() : 'ended'
      expect([name, outcome]).toEqual([name, name === 'native' ? protocolError : 'ended'])
      connection.request(3)
      await connection.find(({ stream, flags }) => stream === 3 && (flags & endStream) > 0)
    }
  })

  test('allows no push, and keeps the session when an application sends GOAWAY, unlike Node', async () => {
    for (const name of ['node', 'native'] as const) {
      const connection = await openRaw(name)
      connection.request(1, { ':path': '/api/push' })
      const { payload } = await connection.find(({ type }) => type === frameTypes.data)
      expect([name, payload.toString()]).toEqual([name, String(name === 'node')])
      connection.request(3, { ':path': '/api/goaway' })
      await connection.find(({ stream, flags }) => stream === 3 && (flags & endStream) > 0)
      if (name === 'node') {
        await connection.find(({ type }) => type === frameTypes.goAway)
        continue
      }
      connection.request(5, { ':path': '/api/large' })
      await connection.find(({ stream, type }) => stream === 5 && type === frameTypes.headers)
      expect(connection.frames.some(({ type }) => type === frameTypes.goAway)).toBe(false)
    }
  })

  test("relays the client's address", async () => {
    const stream = open('native', { ':path': '/api/address' })
    const address = (await buffer(stream)).toString()
    expect(address).toBe(`127.0.0.1 ${stream.session?.socket.localPort} true https`)
  })
})

async function askBoth(asked: OutgoingHttpHeaders): Promise<[expected: Answer, found: Answer]> {
  const expected = await ask('node', asked)
  // The first request may add a value to the engine's table.
  await ask('native', asked)
  handled = []
  return [expected, await ask('native', asked)]
}

function answerCall(request: IncomingMessage, response: ServerResponse): void {
  const { url = '' } = request
  response.once('close', () => {
    ended = [...ended, url]
  })
  if (url === '/api/silent' || url === '/api/reading') {
    for (const event of ['aborted', 'data', 'end', 'close'])
      request.on(event, () => {
        events = [...events, event]
      })
    if (url === '/api/reading') response.end('answer')
  } else if (url.startsWith('/api/cut')) {
    if (url.endsWith('length')) response.setHeader('Content-Length', 100)
    if (!url.endsWith('head')) response.write('part')
    setTimeout(() => Reflect.get(response, 'stream').close(), 50)
  } else if (url === '/api/early') {
    response.write('first')
    response.end('other')
  } else if (url === '/api/echo') request.pipe(response)
  else if (url === '/api/hint') {
    response.writeEarlyHints({ link: '</app.js>; rel=preload' })
    response.end('hinted')
  } else if (url === '/api/trailers') {
    response.write('body')
    response.addTrailers({ sum: '1' })
    response.end()
  } else if (url === '/api/long-length') response.writeHead(200, { 'Content-Length': 100 }).end('part')
  else if (url === '/api/short-length') response.writeHead(200, { 'Content-Length': 1 }).end('whole')
  else if (url === '/api/push') response.end(String(Reflect.get(response, 'stream').pushAllowed))
  else if (url === '/api/goaway') {
    Reflect.get(response, 'stream').session.goaway()
    response.end('last')
  } else if (url === '/api/large') response.end(Buffer.alloc(100_000, 'large'))
  else if (url === '/api/broken') response.destroy()
  else if (url === '/api/address') {
    const { remoteAddress, remotePort } = request.socket
    const isEncrypted = 'encrypted' in request.socket && request.socket.encrypted
    response.end([remoteAddress, remotePort, isEncrypted, Reflect.get(request, 'scheme')].join(' '))
  }
}

async function openRaw(name: 'native' | 'node'): Promise<RawHttp2> {
  const connection = await openRawHttp2(Number(new URL(origins[name]).port))
  opened.push(connection.socket)
  return connection
}

function dial(name: 'native' | 'node'): ClientHttp2Session {
  const session = connect(origins[name], { rejectUnauthorized: false })
  opened.push(session)
  return session
}

function open(name: 'native' | 'node', fields: OutgoingHttpHeaders): ClientHttp2Stream {
  const { ':method': method = 'GET' } = fields
  return dial(name).request({ ':authority': 'localhost', ...fields }, { endStream: method !== 'POST' })
}

/** The observable parts of a response, except for its date. */
interface Answer {
  readonly fields: string
  readonly body: string
  readonly trailers: unknown
}

async function ask(name: 'native' | 'node', fields: OutgoingHttpHeaders): Promise<Answer> {
  const stream = open(name, fields)
  let trailers: unknown
  stream.once('trailers', (given) => {
    trailers = { ...given }
  })
  stream.end()
  const [, , raw] = await once(stream, 'response')
  const body = (await buffer(stream)).toString('latin1')
  return { fields: raw.join(' ').replace(/date .{29}/, ''), body, trailers }
}
