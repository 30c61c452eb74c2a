import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { type ClientHttp2Session, connect, createServer, type OutgoingHttpHeaders } from 'node:http2'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import type { Site } from '../../src/site/site.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import type { RequestListener } from '../../src/transport/transport.ts'

const script = compressibleText(300_000)
const closers: (() => void)[] = []

let directory: string
let held: ClientHttp2Session
let streamed: ClientHttp2Session
beforeAll(async () => {
  directory = await buildFixture({
    'index.html': 'page',
    'docs/index.html': 'docs',
    'app.js': script,
    'gone.png': 'pixels',
  })
  held = await serveOverHttp2(handlerOf(await loadSite(directory)))
  streamed = await serveOverHttp2(handlerOf(await loadSite(directory, { memoryBudget: 0 })))
})
afterAll(() => {
  for (const close of closers) close()
})

const handlerOf = (site: Site): RequestListener => createHandler(site, { onProblem: () => {} })

async function serveOverHttp2(listener: RequestListener): Promise<ClientHttp2Session> {
  // The compatibility API has the methods of HTTP/1.1 that a handler uses.
  const server = createServer((request, response) => Reflect.apply(listener, undefined, [request, response]))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const session = connect(`http://127.0.0.1:${port}`)
  closers.push(() => {
    session.destroy()
    server.close()
  })
  return session
}

interface Http2Answer {
  readonly status: unknown
  readonly fields: Readonly<Record<string, unknown>>
  readonly body: Buffer
}

async function ask(session: ClientHttp2Session, fields: OutgoingHttpHeaders): Promise<Http2Answer> {
  const stream = session.request({ ':path': '/app.js', ...fields })
  const [headers] = await once(stream, 'response')
  return { status: headers[':status'], fields: headers, body: await buffer(stream) }
}

describe.each([
  ['from memory', () => held],
  ['streamed', () => streamed],
])("behind Node's HTTP/2, %s", (_how, sessionOf) => {
  test.each<readonly [OutgoingHttpHeaders, number, number | undefined]>([
    [{}, 200, script.length],
    [{ ':method': 'HEAD' }, 200, 0],
    [{ range: 'bytes=5-70000' }, 206, 69_996],
    [{ range: 'bytes=9999999-' }, 416, undefined],
    [{ 'if-none-match': '*' }, 304, 0],
    [{ 'if-match': '"x"' }, 412, undefined],
    [{ ':path': '/docs' }, 308, 0],
    [{ ':path': '/unknown' }, 404, undefined],
    [{ ':path': '/%' }, 400, undefined],
    [{ ':method': 'OPTIONS' }, 204, 0],
    [{ ':method': 'POST' }, 405, undefined],
  ])('%j is answered with %d', async (fields, status, length) => {
    const answer = await ask(sessionOf(), fields)
    expect(answer.status).toBe(status)
    expect(length === undefined || answer.body.length === length).toBe(true)
  })

  test.each(['zstd', 'br', 'gzip'])('a body in %s has the right fields', async (coding) => {
    const { fields, body } = await ask(sessionOf(), { 'accept-encoding': coding })
    expect(fields).toMatchObject({
      'content-encoding': coding,
      'content-length': String(body.length),
      vary: 'Accept-Encoding',
      'cache-control': 'no-cache',
    })
  })

  test('many concurrent streams are sent whole', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(sessionOf(), {})))
    expect(answers.every(({ body }) => body.toString() === script)).toBe(true)
  })
})

test('a file that was deleted gets a 404 over HTTP/2', async () => {
  await rm(join(directory, 'gone.png'))
  const answer = await ask(streamed, { ':path': '/gone.png' })
  expect([answer.status, answer.fields['cache-control']]).toEqual([404, 'no-store'])
})

test('raw octets of a query are escaped in a Location', async () => {
  const answer = await ask(held, { ':path': '/docs?\xff' })
  expect([answer.status, answer.fields['location']]).toEqual([308, '/docs/?%FF'])
})
