import { once } from 'node:events'
import { connect as openSession } from 'node:http2'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import type { ServeOptions } from '../../src/serve/serve-options.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { dialTls } from '../support/dial-tls.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { type Dial, openConnection } from '../support/open-connection.ts'
import type { RawResponse } from '../support/parse-response.ts'
import { formatRequest } from '../support/raw-request.ts'
import { startListener } from '../support/start-listener.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

/** An application that returns the host and the target that it received. */
const nodeApplication = `export default (request, response) => {
  const { url, rawHeaders, headers, headersDistinct } = request
  const raw = rawHeaders.filter((_, index) => rawHeaders[index - 1]?.toLowerCase() === 'host' && index % 2 === 1)
  response.end(JSON.stringify({ url, raw, host: headers.host, distinct: headersDistinct.host }))
}`
const fetchApplication = `export const fetch = (request) =>
  new Response(JSON.stringify({ url: request.url, host: request.headers.get('host') }))`

let directory: string
let node: StartedServer
let fetching: StartedServer
let guarded: StartedServer
let encrypted: StartedServer
beforeAll(async () => {
  directory = await buildFixture({ 'index.html': 'page', 'about.html': 'about', 'docs/index.html': 'docs' })
  const modules = await writeFixture({ 'node.mjs': nodeApplication, 'fetch.mjs': fetchApplication })
  node = await startServer(directory, { ssr: join(modules, 'node.mjs') })
  fetching = await startServer(directory, { ssr: join(modules, 'fetch.mjs') })
  guarded = await startServer(directory, { ssr: join(modules, 'node.mjs'), allowHosts: ['good.example'] })
  encrypted = await startServer(directory, { ssr: join(modules, 'node.mjs'), tls: await writeCertificate() })
})

interface Asked {
  /** The value of `Host`. `null` omits it. */
  readonly host?: string | null
  readonly dial?: Dial | undefined
}

/** Returns the response to a request line and a `Host`. */
async function ask(
  { port }: Pick<StartedServer, 'port'>,
  line: string,
  { host = 'evil.example', dial }: Asked = {},
): Promise<RawResponse> {
  const connection = await openConnection(port, dial)
  const version = / HTTP\/1\.\d$/.test(line) ? '' : ' HTTP/1.1'
  const field = host === null ? '' : `Host: ${host}\r\n`
  connection.send(`${line}${version}\r\n${field}Connection: close\r\n\r\n`)
  const response = await connection.receive(line.split(' ', 1)[0])
  expect(await connection.rest()).toHaveLength(0)
  return response
}

/** Returns the host and target that the Node application received. */
async function told(...parameters: Parameters<typeof ask>): Promise<unknown> {
  const { status, body } = await ask(...parameters)
  expect(status).toBe(200)
  return JSON.parse(body.toString())
}

const heard = (url: string, host: string): object => ({ url, raw: [host], host, distinct: [host] })

describe('a target in absolute form', () => {
  test.each([
    ['GET http://good.example/reset?a=b', '/reset?a=b', 'good.example'],
    ['POST http://good.example:8080/reset', '/reset', 'good.example:8080'],
    ['GET HTTPS://GOOD.example/reset', '/reset', 'GOOD.example'],
    ['POST http://good.example', '/', 'good.example'],
    ['POST http://good.example?a', '/?a', 'good.example'],
    ['GET http://user:word@good.example/reset', '/reset', 'good.example'],
    ['GET http://[::1]:80/reset', '/reset', '[::1]:80'],
    ['GET http://good.example//evil.example/', '//evil.example/', 'good.example'],
    ['GET http://good.example/reset HTTP/1.0', '/reset', 'good.example'],
  ])('%s is %s of %s for an application, whatever the Host field contains', async (line, url, host) => {
    expect(await told(node, line)).toEqual(heard(url, host))
    expect(await told(encrypted, line, { dial: dialTls })).toEqual(heard(url, host))
  })

  test('provides the host of an HTTP/1.0 request without Host', async () => {
    const line = 'GET http://good.example/reset HTTP/1.0'
    expect(await told(node, line, { host: null })).toEqual(heard('/reset', 'good.example'))
  })

  test.each([
    ['GET http://good.example/reset', 'http://good.example/reset'],
    ['GET http://good.example//a/b?c', 'http://good.example//a/b?c'],
    ['GET //good.example/reset', 'http://evil.example//good.example/reset'],
    ['POST http://u@good.example:99', 'http://good.example:99/'],
  ])('%s is the URL %s for a fetch application', async (line, url) => {
    expect(await told(fetching, line)).toEqual({ url, host: new URL(url).host })
  })

  test('serves a file, and redirects without a host', async () => {
    expect((await ask(node, 'GET http://good.example/about')).body.toString()).toBe('about')
    const redirect = await ask(node, 'GET http://good.example/docs?a')
    expect([redirect.status, redirect.field('Location')]).toEqual([308, '/docs/?a'])
  })

  test('provides the host that --allow-host checks, and that the application receives', async () => {
    expect(await told(guarded, 'GET http://good.example/reset')).toEqual(heard('/reset', 'good.example'))
    const elsewhere = await ask(guarded, 'GET http://evil.example/reset', { host: 'good.example' })
    expect(elsewhere.status).toBe(421)
  })

  test('appears in the access log as in the application', async () => {
    const command = spawnCommand([directory, '--port', '0', '--access-log', 'json'])
    const { port } = await command.listening
    const connection = await openConnection(port)
    connection.send('GET http://u@good.example/about?x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    expect((await connection.receive()).status).toBe(200)
    command.child.kill('SIGTERM')
    const { stdout } = await command.exited
    const line = stdout.split('\n').find((text) => text.includes('"target"')) ?? ''
    expect(JSON.parse(line)).toMatchObject({ target: '/about?x', host: 'good.example' })
  })
})

describe('a malformed target', () => {
  test.each([
    ['another scheme', 'GET om://good.example/reset'],
    ['another scheme with a host that is allowed', 'GET ftp://good.example/'],
    ['an absolute form without a host', 'GET http:///reset'],
    ['… with a port alone', 'GET http://:80/reset'],
    ['… with a user alone', 'GET http://user@/reset'],
    ['… with two users', 'GET http://a@b@good.example/'],
    ['… with an invalid host', 'GET http://good.example:x/'],
    ['an asterisk', 'GET *'],
    ['an asterisk with POST', 'POST *'],
    ['an asterisk followed by more', 'OPTIONS *a'],
    ['an authority', 'GET good.example:80'],
    ['a fragment', 'GET /about#top'],
    ['a fragment of an unknown path', 'POST /reset#@good.example/'],
    ['a fragment behind a query', 'GET /about?a#b'],
    ['a fragment in absolute form', 'GET http://good.example/about#top'],
    ['a fragment as the whole target', 'GET http://good.example#@evil.example/'],
    ['a fragment behind an asterisk', 'OPTIONS *#'],
  ])('answers %s with 400: %s', async (_what, line) => {
    for (const server of [node, fetching]) {
      expect((await ask(server, line, { host: 'good.example' })).status).toBe(400)
    }
  })

  test.each(['', ' ', ':80'])('an empty Host: %j', async (host) => {
    for (const line of ['GET /good.example/reset', 'GET http://good.example/', 'GET / HTTP/1.0'])
      expect((await ask(fetching, line, { host })).status).toBe(400)
  })
})

describe("a handler in the user's own server", () => {
  test.each([
    ['an absolute form, by its path', 'GET http://good.example/about', 200],
    ['an absolute form without a path', 'GET https://user@good.example', 200],
    ['another scheme', 'GET om://good.example/about', 400],
    ['a fragment', 'GET /about#top', 400],
    ['an asterisk, which no resource is called', 'GET *', 404],
    ['the server as a whole', 'OPTIONS *', 204],
  ])('reads %s: %s', async (_what, line, status) => {
    const port = await startListener(createHandler(await loadSite(directory)))
    expect((await ask({ port }, line)).status).toBe(status)
  })
})

describe('CONNECT', () => {
  test.each<readonly [string, () => StartedServer, Dial | undefined]>([
    ['over TCP', () => node, undefined],
    ['over TLS', () => encrypted, dialTls],
  ])('is refused with 405 and its Allow, %s', async (_how, serverOf, dial) => {
    for (const target of ['example.org:443', '/', 'http://example.org/', '*']) {
      const response = await ask(serverOf(), `CONNECT ${target}`, { dial })
      expect([response.status, response.field('Allow'), response.field('Connection')]).toEqual([
        405,
        'GET, HEAD, OPTIONS',
        'close',
      ])
    }
  })

  test('is 405 over HTTP/2 as well', async () => {
    const session = openSession(`https://127.0.0.1:${encrypted.port}`, { rejectUnauthorized: false })
    const stream = session.request({ ':method': 'CONNECT', ':authority': 'example.org:443' })
    const [headers] = await once(stream, 'response')
    expect(headers).toMatchObject({ ':status': 405 })
    session.destroy()
  })

  test.each<readonly [string, (piped: string) => Omit<ServeOptions, 'directory'>, string]>([
    ['from memory', () => ({}), '/large.bin'],
    ['streamed', () => ({ site: { memoryBudget: 0 } }), '/large.bin'],
    ['of an application', (piped) => ({ ssr: piped }), '/piped'],
  ])(
    'is answered after the response in progress, %s, and ends the connection',
    async (_how, optionsFor, target) => {
      const large = Buffer.alloc(2_000_000, 'abcdefgh')
      const files = await buildFixture({ 'index.html': 'page', 'large.bin': large })
      const modules = await writeFixture({
        'piped.mjs': `import { Readable } from 'node:stream'
        export default (_, response) => void Readable.from(Array(20).fill(Buffer.alloc(100_000, 'abcdefgh'))).pipe(response)`,
      })
      const { port } = await startServer(files, optionsFor(join(modules, 'piped.mjs')))
      const connection = await openConnection(port)
      const connect = 'CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n'
      connection.send(formatRequest({ target }) + connect + formatRequest({}))
      const { status, body } = await connection.receive()
      expect([status, body.equals(large)]).toEqual([200, true])
      expect((await connection.receive('CONNECT')).status).toBe(405)
      expect(await connection.rest()).toHaveLength(0)
    },
  )
})
