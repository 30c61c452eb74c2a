import { once } from 'node:events'
import { connect as connectHttp2, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { dialTls } from '../support/dial-tls.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { rawRequest } from '../support/raw-request.ts'
import { startServer } from '../support/start-server.ts'
import { isNative } from '../support/tested-engine.ts'
import type { TlsFiles } from '../../src/transport/tls/tls-credentials.ts'

const text = compressibleText(20_000)

let build: string
let tls: TlsFiles
beforeAll(async () => {
  build = await buildFixture({ 'index.html': 'page' }, { appType: 'custom' })
  tls = await writeCertificate()
})

/** Serves the build with an application module. */
async function serveWith(source: string): Promise<number> {
  const directory = await writeFixture({ 'entry.mjs': source })
  const { port } = await startServer(build, { ssr: join(directory, 'entry.mjs'), tls })
  return port
}

interface Http2Answer {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

async function ask(port: number, fields: OutgoingHttpHeaders, body?: string): Promise<Http2Answer> {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  try {
    const stream = session.request({ ':path': '/api', ...fields }, { endStream: body === undefined })
    if (body !== undefined) stream.end(body)
    const [headers]: IncomingHttpHeaders[] = await once(stream, 'response')
    return { headers: headers ?? {}, body: await buffer(stream) }
  } finally {
    session.destroy()
  }
}

describe('an application behind the build, over HTTP/2', () => {
  test.each([
    [
      'a Node handler',
      'export default (req, res) => { req.setEncoding("utf8"); let t = ""; req.on("data", (c) => { t += c }).on("end", () => res.end(req.method + t)) }',
    ],
    [
      'a function of fetch',
      'export default async (request) => new Response(request.method + (await request.text()))',
    ],
  ])('%s gets the request body', async (_what, source) => {
    const { headers, body } = await ask(await serveWith(source), { ':method': 'POST' }, 'x'.repeat(100_000))
    expect([headers[':status'], body.toString()]).toEqual([200, `POST${'x'.repeat(100_000)}`])
  })

  // RFC 9113 §8.3.1
  test.each([
    ['a Node handler', 'export default (req, res) => res.end(req.headers.host)'],
    ['a function of fetch', 'export const fetch = (request) => new Response(new URL(request.url).host)'],
  ])('%s gets the requested host', async (_what, source) => {
    const port = await serveWith(source)
    expect((await ask(port, {})).body.toString()).toBe(`127.0.0.1:${port}`)
    expect((await ask(port, { ':authority': 'example.org' })).body.toString()).toBe('example.org')
  })

  test('has its responses compressed', async () => {
    const port = await serveWith(
      `export default (request) => new Response(${JSON.stringify(text)}, { headers: { 'Content-Type': 'text/plain' } })`,
    )
    const { headers, body } = await ask(port, { 'accept-encoding': 'gzip' })
    expect(headers).toMatchObject({ ':status': 200, 'content-encoding': 'gzip', vary: 'Accept-Encoding' })
    expect(gunzipSync(body).toString()).toBe(text)
  })

  test('sends a large body whole', async () => {
    const port = await serveWith('export default (req, res) => res.end(Buffer.alloc(5e6, "abc"))')
    const { body } = await ask(port, {})
    expect(body.equals(Buffer.alloc(5e6, 'abc'))).toBe(true)
    const overHttp1 = await rawRequest(port, { target: '/api' }, dialTls)
    expect(overHttp1.body.equals(Buffer.alloc(5e6, 'abc'))).toBe(true)
  })

  test.each([
    ['throws', 'throw new Error("late")'],
    ['ends again', 'res.end()'],
    ['ends again with more', 'res.end("more")'],
    ['writes more', 'res.write("more")'],
    ['ends if it has not ended', 'if (!res.writableEnded) res.end()'],
  ])('has its large body sent whole, also over HTTP/1.1, if after its end it %s', async (_what, late) => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const port = await serveWith(
      `export const handler = (req, res, next) => { res.end(Buffer.alloc(1e6, "abc")); ${late} }`,
    )
    const whole = Buffer.alloc(1e6, 'abc')
    expect((await ask(port, {})).body.equals(whole)).toBe(true)
    expect((await rawRequest(port, { target: '/api' }, dialTls)).body.equals(whole)).toBe(true)
    stderr.mockRestore()
  })

  test('is notified of the end of its large body, also over HTTP/1.1', async () => {
    const port = await serveWith(
      `let isTold = false; export default (req, res) => {
        if (req.url === '/told') res.end(String(isTold))
        else { isTold = false; res.end(Buffer.alloc(1e6), () => { isTold = true }) } }`,
    )
    const isTold = async (): Promise<string> => (await ask(port, { ':path': '/told' })).body.toString()
    await ask(port, {})
    await expect.poll(isTold).toBe('true')
    await rawRequest(port, { target: '/api' }, dialTls)
    await expect.poll(isTold).toBe('true')
  })

  test('has its fields removed that HTTP/2 forbids', async () => {
    const port = await serveWith(
      `export default (req, res) => {
        res.setHeader('Connection', 'keep-alive')
        res.writeHead(200, { 'Keep-Alive': 'timeout=5', 'Transfer-Encoding': 'chunked', 'X-Own': 'yes' })
        res.end('made')
      }`,
    )
    const { headers, body } = await ask(port, {})
    expect([headers[':status'], headers['x-own'], body.toString()]).toEqual([200, 'yes', 'made'])
    for (const name of ['connection', 'keep-alive', 'transfer-encoding'])
      expect(headers).not.toHaveProperty(name)
  })

  test.each(['\x7F', '\x01', '\n', '\0', '\u0101'])(
    'gets ERR_INVALID_CHAR for %j in a field, as over HTTP/1.1',
    async (octet) => {
      const port = await serveWith(
        `const bad = ${JSON.stringify(`a${octet}b`)}
        const link = '</a.js>; rel=preload'
        export default (req, res) => {
          const codes = {}
          const call = (name, ...given) => {
            try { res[name](...given) } catch ({ code }) { (codes[name] ??= []).push(code) }
          }
          call('setHeader', 'x', bad)
          call('setHeader', 'x', ['a', bad])
          call('appendHeader', 'x', bad)
          call('writeHead', 200, { x: bad })
          call('writeHead', 200, 'OK', ['y', 'a', 'x', bad])
          call('addTrailers', { x: bad })
          if (req.httpVersionMajor === 2) {
            call('writeEarlyHints', { link, x: bad })
            call('writeEarlyHints', { link: [link + bad] })
            call('setHeader', 'x' + bad, 'a')
          }
          res.end(JSON.stringify(codes))
        }`,
      )
      const invalid = 'ERR_INVALID_CHAR'
      const overBoth = {
        setHeader: [invalid, invalid],
        appendHeader: [invalid],
        writeHead: [invalid, invalid],
        addTrailers: [invalid],
      }
      const { headers, body } = await ask(port, {})
      expect(JSON.parse(body.toString())).toEqual({
        ...overBoth,
        setHeader: [...overBoth.setHeader, 'ERR_INVALID_HTTP_TOKEN'],
        writeEarlyHints: [invalid, invalid],
      })
      expect(headers).not.toHaveProperty('x')
      const overHttp1 = await rawRequest(port, { target: '/api' }, dialTls)
      expect(JSON.parse(overHttp1.body.toString())).toEqual(overBoth)
    },
  )

  test('loses only the stream on which it adds an invalid trailer', async () => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const port = await serveWith(
      `let finish
      export default async (req, res) => {
        res.write('part')
        if (req.url === '/api') return await new Promise((resolve) => { finish = () => resolve(res.end('end')) })
        await new Promise(setImmediate)
        if (req.url === '/bad') res.addTrailers({ x: 'a\\x01' })
        else finish()
        res.end()
      }`,
    )
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    const request = async (path: string): Promise<string> => {
      const stream = session.request({ ':path': path })
      await once(stream, 'response')
      return (await buffer(stream)).toString()
    }
    const running = session.request({ ':path': '/api' })
    await once(running, 'response')
    // Node 24 destroys a stream that ends before the test reads it.
    const whole = buffer(running)
    await expect(request('/bad')).rejects.toThrow('NGHTTP2_INTERNAL_ERROR')
    expect(await request('/finish')).toBe('part')
    expect((await whole).toString()).toBe('partend')
    session.destroy()
    stderr.mockRestore()
  })

  test('gets ERR_INVALID_CHAR from methods of `response.stream`, and its session continues', async () => {
    const port = await serveWith(
      `const x = 'a\\x01b'
      let running
      export default ({ url }, { stream }) => {
        const codes = []
        const call = (name, ...given) => {
          try { stream[name](...given) } catch ({ code }) { codes.push(code) }
        }
        if (url === '/api') {
          call('additionalHeaders', { ':status': 103, x })
          call('respond', { ':status': 200, x })
          call('respond', { ':status': 200, x: ['a', x] })
          call('respondWithFile', process.execPath, { x })
          call('respondWithFD', 0, { x })
          call('pushStream', { ':path': '/pushed', x }, () => {})
          stream.respond({ ':status': 200, 'x-own': 'yes' })
          return stream.end(JSON.stringify(codes))
        }
        stream.respond({ ':status': 200 }, { waitForTrailers: true })
        // Node's response has a listener that sends its own trailers.
        stream.removeAllListeners('wantTrailers').on('wantTrailers', () => stream.sendTrailers({ x: url === '/bad' ? x : 'end' }))
        if (url === '/running') {
          running = stream
          return stream.write('part')
        }
        if (url === '/good') running.end()
        stream.end('part')
      }`,
    )
    const invalid = 'ERR_INVALID_CHAR'
    const { headers, body } = await ask(port, {})
    expect([headers['x-own'], JSON.parse(body.toString())]).toEqual([
      'yes',
      Array.from({ length: 6 }, () => invalid),
    ])
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    const running = session.request({ ':path': '/running' })
    await once(running, 'response')
    const whole = buffer(running)
    const bad = session.request({ ':path': '/bad' })
    await expect(buffer(bad)).rejects.toThrow('NGHTTP2_INTERNAL_ERROR')
    const good = session.request({ ':path': '/good' })
    const trailers = once(good, 'trailers')
    expect((await buffer(good)).toString()).toBe('part')
    expect((await trailers)[0]).toMatchObject({ x: 'end' })
    expect((await whole).toString()).toBe('part')
    session.destroy()
  })

  // The native engine passes no pushed streams on.
  test.skipIf(isNative)('gets ERR_INVALID_CHAR from methods of a pushed stream', async () => {
    const port = await serveWith(
      `export default (request, { stream }) => {
        stream.pushStream({ ':path': '/pushed' }, (error, pushed) => {
          try { pushed.respond({ x: 'a\\x01b' }) } catch ({ code }) { pushed.respond({ 'x-code': code }) }
          pushed.end()
          stream.respond()
          stream.end()
        })
      }`,
    )
    const session = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    const pushed = once(session, 'stream').then(async ([stream]) => await once(stream, 'push'))
    session.request({ ':path': '/api' }).resume()
    expect((await pushed)[0]).toMatchObject({ 'x-code': 'ERR_INVALID_CHAR' })
    session.destroy()
  })

  test('has its stream reset with an error if it destroys its response', async () => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const port = await serveWith('export default (req, res) => { res.write("part", () => res.destroy()) }')
    await expect(ask(port, {})).rejects.toThrow('NGHTTP2_INTERNAL_ERROR')
    stderr.mockRestore()
  })

  test('that fails gets a 500', async () => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const port = await serveWith('export default () => { throw new Error("oops") }')
    expect((await ask(port, {})).headers[':status']).toBe(500)
    stderr.mockRestore()
  })
})
