import { once } from 'node:events'
import { createRequire } from 'node:module'
import { mkdir, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import zlib, { brotliDecompressSync, gunzipSync } from 'node:zlib'
import type { ContentCoding } from '@serve-dist/manifest'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { liveCodings } from '../../src/application/live-coding.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { waitForReset } from '../support/wait-for-reset.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startServer } from '../support/start-server.ts'

const navigation = { 'Sec-Fetch-Mode': 'navigate' }
const require = createRequire(import.meta.url)
const urlOf = (name: string): string => JSON.stringify(pathToFileURL(require.resolve(name)).href)
const text = compressibleText(20_000)

/** A React Router server build with a page and a data route. */
const serverBuild = `
import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { ServerRouter, useParams } from 'react-router'
const render = (request, status, headers, context) => {
  const markup = renderToStaticMarkup(createElement(ServerRouter, { context, url: request.url }))
  return new Response(markup, { status, headers })
}
const User = () => createElement('p', null, 'user ' + useParams().id)
const inAssets = (id, path) => ({ id, path, module: '/' + id + '.js', imports: [], css: [] })
export const entry = { module: { default: render } }
export const routes = {
  user: { id: 'user', path: 'users/:id', module: { default: User } },
  api: { id: 'api', path: 'api', module: { loader: ({ request }) => Response.json({ made: new URL(request.url).pathname }) } },
}
export const assets = {
  entry: { module: '/entry.js', imports: [], css: [] },
  routes: { user: inAssets('user', 'users/:id'), api: { ...inAssets('api', 'api'), hasLoader: true } },
  url: '/assets/manifest-1.js', version: '1',
}
export const assetsBuildDirectory = 'build/client', basename = '/', future = {}, isSpaMode = false, prerender = []
export const publicPath = '/', routeDiscovery = { mode: 'initial' }, ssr = true
`

let build: string
beforeAll(async () => {
  build = await buildFixture(
    { 'index.html': compressibleText(2000, 'page'), 'a.txt': 'a' },
    { appType: 'spa' },
  )
})

/** Serves the build with an application module. */
async function serveWith(source: string, handler = {}): Promise<number> {
  const directory = await writeFixture({ 'entry.mjs': source })
  const { port } = await startServer(build, { ssr: join(directory, 'entry.mjs'), handler })
  return port
}

/** Gets a page and decodes it. */
async function fetchText(port: number, coding: string): Promise<{ status: number; body: string }> {
  const headers = { 'Accept-Encoding': coding }
  const response = await fetch(`http://127.0.0.1:${port}/page`, { headers })
  return { status: response.status, body: await response.text() }
}

describe('an application module', () => {
  test.each([
    ['a Node handler', 'export default (req, res) => res.end(`made ${req.url}`)'],
    ['a Node handler with a next', 'export const handler = (req, res, next) => res.end(`made ${req.url}`)'],
    [
      'a function of fetch',
      'export default (request) => new Response(`made ${new URL(request.url).pathname}`)',
    ],
    [
      'a function named fetch',
      'export const fetch = (...all) => new Response(`made ${new URL(all[0].url).pathname}`)',
    ],
    [
      'an object with fetch',
      'export default { async fetch(request) { return new Response(this.say + new URL(request.url).pathname) }, say: "made " }',
    ],
    [
      'a Hono application',
      `import { Hono } from ${urlOf('hono')}; export const app = new Hono().get("*", (c) => c.text("made " + c.req.path))`,
    ],
    [
      'an Express application',
      `import express from ${urlOf('express')}; export const app = express(); app.get("/api", (req, res) => res.send("made " + req.path))`,
    ],
    [
      'a Connect application',
      `import connect from ${urlOf('connect')}; const app = connect(); app.use("/api", (req, res) => res.end("made " + req.originalUrl)); export default app`,
    ],
    [
      'a Polka application',
      `import polka from ${urlOf('polka')}; export default polka().get("/api", (req, res) => res.end("made " + req.path))`,
    ],
    ['a middleware', 'export const middleware = (req, res, next) => res.end(`made ${req.url}`)'],
    [
      'fetch next to a Node handler',
      'export default (req, res) => res.end("other"); export const fetch = ({ url }, context) => new Response(`made ${new URL(url).pathname}`)',
    ],
  ])('may be %s', async (_what, source) => {
    const port = await serveWith(source)
    const made = await rawRequest(port, { target: '/api' })
    expect([made.status, made.body.toString()]).toEqual([200, 'made /api'])
    const file = await rawRequest(port, { target: '/a.txt' })
    expect(file.body.toString()).toBe('a')
  })

  test.each(['react-router', 'react-router8'])('may be the server build of %s', async (name) => {
    const packageDirectory = dirname(dirname(dirname(require.resolve(name))))
    const directory = await writeFixture({
      'server/index.js': serverBuild,
      'package.json': '{"type":"module"}',
    })
    await mkdir(join(directory, 'node_modules'))
    await symlink(packageDirectory, join(directory, 'node_modules/react-router'))
    for (const each of ['react', 'react-dom']) {
      await symlink(dirname(require.resolve(each)), join(directory, 'node_modules', each))
    }
    const { port } = await startServer(build, { ssr: join(directory, 'server/index.js') })
    const page = await rawRequest(port, { target: '/users/7', fields: navigation })
    expect([page.status, page.body.toString()]).toEqual([200, '<p>user 7</p>'])
    const data = await rawRequest(port, { target: '/api' })
    expect([data.status, data.body.toString()]).toEqual([200, '{"made":"/api"}'])
    const file = await rawRequest(port, { target: '/a.txt' })
    expect(file.body.toString()).toBe('a')
  })

  test.each([
    ['react-router', '{}'],
    ['react-router', '{ v8_middleware: true }'],
    ['react-router8', '{}'],
  ])('logs that a handler of %s (future: %s) looks like a fetch handler', async (name, future) => {
    const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const port = await serveWith(
      `import { createRequestHandler } from ${urlOf(name)}
        const routes = { api: { id: 'api', path: 'api', module: { loader: () => new Response('made') } } }
        const entry = { module: { default: () => new Response() } }
        const build = { entry, routes, assets: { routes: {} }, future: ${future}, ssr: true, basename: '/' }
        export default createRequestHandler(build, 'production')`,
    )
    const { status } = await rawRequest(port, { target: '/page' })
    const log = written.mock.calls.join('\n')
    written.mockRestore()
    expect(status).toBe(500)
    expect(log).toContain('The handler looks like a fetch handler. Export it as `fetch`.')
  })

  test.each([
    ['loopback', {}, 'http:'],
    ['loopback', { 'X-Forwarded-Proto': 'https' }, 'https:'],
    ['loopback', { 'X-Forwarded-Proto': 'HTTPS, http' }, 'https:'],
    ['loopback', { 'X-Forwarded-Proto': 'gopher' }, 'http:'],
    ['192.0.2.0/24', { 'X-Forwarded-Proto': 'https' }, 'http:'],
    [undefined, { 'X-Forwarded-Proto': 'https' }, 'http:'],
  ])('behind the proxy %s gets the scheme of its client: %j is %s', async (trustProxy, fields, scheme) => {
    const directory = await writeFixture({
      'entry.mjs': 'export const fetch = ({ url }) => new Response(url)',
    })
    const operations = trustProxy === undefined ? {} : { trustProxy }
    const { port } = await startServer(build, { ssr: join(directory, 'entry.mjs'), operations })
    const { body } = await rawRequest(port, { target: '/x', fields })
    expect(body.toString()).toBe(`${scheme}//example.org/x`)
  })

  test('does not get requests for stale assets, but gets all others below the assets folder', async () => {
    const built = await buildFixture(
      { 'assets/app-1.js': 'script' },
      { assetsDirectory: 'assets', appType: 'custom' },
    )
    const directory = await writeFixture({
      'entry.mjs':
        'export default (req, res) => res.setHeader("Content-Type", "text/html").end(`page of ${req.method} ${req.url}`)',
    })
    const { port } = await startServer(built, { ssr: join(directory, 'entry.mjs') })
    for (const name of [
      'app-0.js',
      'app-0.js?v=1',
      'app%2D0.css',
      'logo-0.svg',
      'font-0.woff2',
      'app-0.js.map',
    ]) {
      for (const fields of [navigation, { 'Sec-Fetch-Dest': 'script' }]) {
        const missing = await rawRequest(port, { target: `/assets/${name}`, fields })
        expect([name, missing.status, missing.field('Cache-Control')]).toEqual([name, 404, 'no-store'])
      }
    }
    for (const target of [
      '/assets/42',
      '/assets/',
      '/assets/42.data',
      '/other/app-0.js',
      '/assets%2Fapp-0.js',
    ]) {
      const made = await rawRequest(port, { target, fields: navigation })
      expect([made.status, made.body.toString()]).toEqual([200, `page of GET ${target}`])
    }
  })

  test('gets no request that the build answers', async () => {
    const port = await serveWith(
      'const seen = []; export default (req, res) => { seen.push(req.method + req.url); res.end(seen.join()) }',
    )
    for (const target of ['/', '/a.txt', '/index.html', '/%']) await rawRequest(port, { target })
    await rawRequest(port, { method: 'OPTIONS', target: '/' })
    const { body } = await rawRequest(port, { target: '/seen' })
    expect(body.toString()).toBe('GET/seen')
  })

  test('that ignores a request body gets its page sent whole if the body is malformed', async () => {
    const port = await serveWith(
      'export default (req, res) => { res.setHeader("Content-Type", "text/html"); res.end("page ".repeat(1000)) }',
    )
    const connection = await openConnection(port)
    const fields = { 'Transfer-Encoding': 'chunked', 'Accept-Encoding': 'gzip' }
    connection.send(`${formatRequest({ method: 'POST', target: '/x', fields })}zz\r\n`)
    const { status, body } = await connection.receive('POST')
    expect([status, gunzipSync(body).toString()]).toEqual([200, 'page '.repeat(1000)])
    expect(await connection.rest()).toHaveLength(0)
  })

  test.each([
    ['a transfer coding that is not chunked', 'Host: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n'],
    ['two Hosts', 'Host: a\r\nHost: b\r\n\r\n'],
    ['two Hosts and 100-continue', 'Host: a\r\nHost: b\r\nExpect: 100-continue\r\n\r\n'],
    ['an expectation that is not met', 'Host: a\r\nExpect: x\r\n\r\n'],
  ])('gets nothing after a request with %s', async (_what, fields) => {
    const port = await serveWith(
      'const seen = []; export default (req, res) => { seen.push(req.method + req.url); res.end(seen.join()) }',
    )
    const ahead = formatRequest({ target: '/before' })
    for (const smuggled of ['', 'Expect: 100-continue\r\n', 'Expect: x\r\n']) {
      const connection = await openConnection(port)
      connection.send(
        `${ahead}POST / HTTP/1.1\r\n${fields}POST /smuggled HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n${smuggled}\r\n`,
      )
      expect((await connection.receive()).status).toBe(200)
      expect((await connection.receive()).status).toBeOneOf([400, 417])
      expect(await connection.rest()).toHaveLength(0)
    }
    const { body } = await rawRequest(port, { target: '/seen' })
    expect(body.toString()).toBe('GET/before,GET/before,GET/before,GET/seen')
  })

  test('gets requests for unknown pages, and other methods', async () => {
    const port = await serveWith('export default (req, res) => res.end(`${req.method} ${req.url}`)')
    const page = await rawRequest(port, { target: '/users?x=1', fields: navigation })
    expect(page.body.toString()).toBe('GET /users?x=1')
    const posted = await rawRequest(port, { method: 'POST', target: '/', fields: { 'Content-Length': '0' } })
    expect(posted.body.toString()).toBe('POST /')
  })

  test('reads the request body', async () => {
    const port = await serveWith(
      'export default { fetch: async (request) => new Response(await request.text()) }',
    )
    const response = await rawRequest(port, {
      method: 'POST',
      target: '/api',
      fields: { 'Content-Length': '5' },
      body: 'hello',
    })
    expect(response.body.toString()).toBe('hello')
  })

  test('that passes a request on causes a 404', async () => {
    const port = await serveWith('export default (req, res, next) => next()')
    const response = await rawRequest(port, { target: '/unknown' })
    expect([response.status, response.field('Cache-Control')]).toEqual([404, 'no-store'])
  })

  test("that passes a navigation on causes the build's 404 page, in its file's coding", async () => {
    const html = compressibleText(2000, 'lost')
    const folder = await buildFixture({ '404.html': html, 'a.txt': 'a' }, { appType: 'custom' })
    const entry = await writeFixture({ 'entry.mjs': 'export default (req, res, next) => next()' })
    const { port } = await startServer(folder, { ssr: join(entry, 'entry.mjs') })
    const fields = { ...navigation, 'Accept-Encoding': 'br' }
    const page = await rawRequest(port, { target: '/unknown', fields })
    expect([page.status, page.field('Cache-Control'), page.field('Content-Encoding')]).toEqual([
      404,
      'no-store',
      'br',
    ])
    expect(brotliDecompressSync(page.body).toString()).toBe(html)
    const script = await rawRequest(port, { target: '/unknown.js', fields: { 'Accept-Encoding': 'br' } })
    expect([script.status, script.body.toString()]).toEqual([404, '404 Not Found\n'])
    const posted = await rawRequest(port, { method: 'POST', target: '/a', fields: { 'Content-Length': '0' } })
    expect(posted.status).toBe(404)
  })

  test('sends several cookies separately', async () => {
    const port = await serveWith(
      `export default () => {
      const headers = new Headers(); headers.append("Set-Cookie", "a=1"); headers.append("Set-Cookie", "b=2")
      return new Response("ok", { headers }) }
      export const fetch = undefined`.replace('() =>', '(request) =>'),
    )
    const response = await rawRequest(port, { target: '/api' })
    expect(
      response.fields.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => value),
    ).toEqual(['a=1', 'b=2'])
  })
})

describe('the response of a module', () => {
  const decoders: Readonly<Record<ContentCoding, (bytes: Buffer) => Buffer>> = {
    zstd: (bytes) => zlib.zstdDecompressSync(bytes),
    br: brotliDecompressSync,
    gzip: gunzipSync,
  }
  const html = `const text = ${JSON.stringify(text)}; const type = { 'Content-Type': 'text/html' };`

  test.each([
    [
      'end alone',
      'export default (req, res) => { res.setHeader("Content-Type", "text/html"); res.end(text) }',
    ],
    [
      'writeHead and end',
      'export default (req, res) => res.writeHead(200, "OK", { ...type, "Content-Length": text.length }).end(text)',
    ],
    [
      'writeHead with a list',
      'export default (req, res) => res.writeHead(200, ["Content-Type", "text/html"]).end(text)',
    ],
    [
      'many writes',
      'export default (req, res) => { res.writeHead(200, type); for (const line of text.split(/^/m)) res.write(line); res.end() }',
    ],
    [
      'a pipe',
      'import { Readable } from "node:stream"; export default (req, res) => { res.writeHead(200, type); Readable.from(text.split(/^/m)).pipe(res) }',
    ],
    [
      'a pipeline',
      'import { Readable } from "node:stream"; import { pipeline } from "node:stream/promises"; export default async (req, res) => { res.writeHead(200, type); await pipeline(Readable.from(text.split(/^/m)), res) }',
    ],
    ['a Response', 'export default (request) => new Response(text, { headers: type })'],
    [
      'Express',
      `import express from ${urlOf('express')}; export const app = express(); app.get("*all", (req, res) => res.type("html").send(text))`,
    ],
  ])('is encoded if it is sent by %s', async (_what, source) => {
    const port = await serveWith(html + source)
    for (const coding of liveCodings) {
      const response = await rawRequest(port, { target: '/page', fields: { 'Accept-Encoding': coding } })
      expect([response.status, response.field('Content-Encoding')]).toEqual([200, coding])
      expect([response.field('Vary'), response.framing]).toEqual(['Accept-Encoding', 'chunked'])
      expect(decoders[coding](response.body).toString()).toBe(text)
      expect(response.body.length).toBeLessThan(text.length / 3)
    }
    const plain = await rawRequest(port, { target: '/page' })
    expect([plain.field('Content-Encoding'), plain.field('Vary')]).toEqual([undefined, 'Accept-Encoding'])
    expect(plain.body.toString()).toBe(text)
  })

  test('has another validator when it is encoded, and an extended Vary', async () => {
    const port = await serveWith(
      `${html} export default (req, res) => res.writeHead(200, { ...type, ETag: '"x"', Vary: 'Cookie' }).end(text)`,
    )
    const request = { target: '/page', fields: { 'Accept-Encoding': 'br' } }
    const [get, head] = [
      await rawRequest(port, request),
      await rawRequest(port, { ...request, method: 'HEAD' }),
    ]
    expect([get.field('ETag'), get.field('Vary')]).toEqual(['W/"x"', 'Cookie, Accept-Encoding'])
    expect([head.field('ETag'), head.field('Content-Encoding'), head.field('Content-Length')]).toEqual([
      'W/"x"',
      'br',
      undefined,
    ])
  })

  test('has the same Vary and weak validator in its 304 and 206', async () => {
    const port = await serveWith(
      `${html} import express from ${urlOf('express')}; export const app = express()
       app.get("/part", (req, res) => res.writeHead(206, { ...type, ETag: '"x"', 'Content-Range': 'bytes 0-8/20000' }).end(text.slice(0, 9)))
       app.get("/page", (req, res) => res.set("ETag", '"x"').type("html").send(text))`,
    )
    const fieldsOf = async (target: string, fields: Record<string, string>): Promise<unknown[]> => {
      const { status, field } = await rawRequest(port, { target, fields })
      return [status, field('ETag'), field('Vary'), field('Content-Encoding')]
    }
    const vary = 'Accept-Encoding'
    const br = { 'Accept-Encoding': 'br' }
    expect(await fieldsOf('/page', br)).toEqual([200, 'W/"x"', vary, 'br'])
    expect(await fieldsOf('/page', { ...br, 'If-None-Match': 'W/"x"' })).toEqual([
      304,
      'W/"x"',
      vary,
      undefined,
    ])
    expect(await fieldsOf('/page', { ...br, 'If-None-Match': '"x"' })).toEqual([304, '"x"', vary, undefined])
    expect(await fieldsOf('/page', { 'If-None-Match': '"x"' })).toEqual([304, '"x"', vary, undefined])
    expect(await fieldsOf('/part', br)).toEqual([206, 'W/"x"', vary, undefined])
    expect(await fieldsOf('/part', {})).toEqual([206, '"x"', vary, undefined])
  })

  test('is never encoded twice', async () => {
    const port = await serveWith(
      `${html} import { gzipSync } from "node:zlib"; export default (req, res) => res.writeHead(200, { ...type, "Content-Encoding": "gzip" }).end(gzipSync(text))`,
    )
    const response = await rawRequest(port, { target: '/page', fields: { 'Accept-Encoding': 'br, gzip' } })
    expect(response.field('Content-Encoding')).toBe('gzip')
    expect(gunzipSync(response.body).toString()).toBe(text)
  })

  test('keeps its length if it is too small to be encoded', async () => {
    const port = await serveWith(
      'export default (req, res) => { res.setHeader("Content-Type", "text/plain"); res.end("small") }',
    )
    const response = await rawRequest(port, { target: '/x', fields: { 'Accept-Encoding': 'br' } })
    expect([response.field('Content-Encoding'), response.field('Content-Length')]).toEqual([undefined, '5'])
  })

  test.each([
    [
      'a Node handler',
      `let release; export default (req, res) => {
      if (req.url === '/release') { release(); return res.end() }
      res.writeHead(200, { 'Content-Type': 'text/html' }); res.write('<p>first'); release = () => res.end('<p>last') }`,
    ],
    [
      'a Response',
      `let release; export default (request) => {
      if (request.url.endsWith('/release')) { release(); return new Response() }
      const { readable, writable } = new TransformStream(); const writer = writable.getWriter()
      writer.write(new TextEncoder().encode('<p>first'))
      release = async () => { await writer.write(new TextEncoder().encode('<p>last')); writer.close() }
      return new Response(readable, { headers: { 'Content-Type': 'text/html' } }) }`,
    ],
  ])('is streamed: %s sends its first part before it makes the rest', async (_what, source) => {
    const port = await serveWith(source)
    // Node's fetch does not decode zstd.
    for (const coding of ['br', 'gzip', 'identity']) {
      const response = await fetch(`http://127.0.0.1:${port}/page`, {
        headers: { 'Accept-Encoding': coding },
      })
      expect(response.headers.get('Content-Encoding')).toBe(coding === 'identity' ? null : coding)
      const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
      expect((await reader?.read())?.value).toBe('<p>first')
      await rawRequest(port, { target: '/release' })
      expect((await reader?.read())?.value).toBe('<p>last')
      expect((await reader?.read())?.done).toBe(true)
    }
  })
})

describe('an application in front of a fallback', () => {
  const api = '({ url }) => new URL(url, "http://a").pathname.startsWith("/api/")'
  const applications = [
    [
      'a Node handler that calls next',
      `const isApi = ${api}; export default (req, res, next) => isApi(req) ? res.end("made") : next()`,
    ],
    [
      'a fetch handler that returns undefined',
      `const isApi = ${api}; export const fetch = async (request) => isApi(request) ? new Response("made") : undefined`,
    ],
    [
      'a fetch handler that returns null',
      `const isApi = ${api}; export const fetch = (request) => isApi(request) ? new Response("made") : null`,
    ],
    [
      'an Express application',
      `import express from ${urlOf('express')}; export const app = express(); app.get("/api/*all", (req, res) => res.send("made"))`,
    ],
  ] as const
  const script = { 'Sec-Fetch-Mode': 'cors', Accept: '*/*' }

  test.each(applications)('answers first, and passes on to the page: %s', async (_what, source) => {
    const port = await serveWith(source, { fallback: 'spa' })
    for (const fields of [navigation, script, {}]) {
      const made = await rawRequest(port, { target: '/api/login', fields })
      expect([made.status, made.body.toString()]).toEqual([200, 'made'])
    }
    const front = await rawRequest(port, { fields: navigation })
    for (const method of ['GET', 'HEAD']) {
      const page = await rawRequest(port, { method, target: '/users', fields: navigation })
      expect([page.status, page.field('ETag')]).toEqual([200, front.field('ETag')])
      expect(page.body.toString()).toBe(method === 'GET' ? front.body.toString() : '')
    }
    const missing = await rawRequest(port, { target: '/users', fields: script })
    expect([missing.status, missing.field('Vary')]).toEqual([404, 'Accept, Sec-Fetch-Mode, Accept-Encoding'])
    const posted = await rawRequest(port, { method: 'POST', target: '/a', fields: { 'Content-Length': '0' } })
    expect(posted.status).toBe(404)
  })

  test('passes on to the page as the build has it', async () => {
    const [, source] = applications[0]
    const port = await serveWith(source, { fallback: 'spa' })
    const { 1: entityTag } = (await rawRequest(port)).fields.find(([name]) => name === 'ETag') ?? []
    const conditions = ['', `W/${entityTag}`, `${entityTag}`].map((tag) => ({ 'If-None-Match': tag }))
    for (const coding of ['identity', 'deflate', 'gzip', 'br', 'zstd']) {
      for (const condition of conditions) {
        const fields = { ...navigation, ...condition, 'Accept-Encoding': coding }
        const [page, front] = await Promise.all(
          ['/users', '/'].map((target) => rawRequest(port, { target, fields })),
        )
        const own = (given: typeof page): unknown => [
          given?.status,
          ...(given?.fields.filter(([name]) => !/^(?:date|vary|cache-control)$/i.test(name)) ?? []),
        ]
        expect(own(page)).toEqual(own(front))
        expect(page?.field('Vary')).toBe('Accept-Encoding, Accept, Sec-Fetch-Mode')
      }
    }
  })

  test.each([
    ['the rule fallback', {}, { fallback: 'spa' }, 'made', 'page'],
    ['a rule with a page', { _redirects: '/* /about.html 200' }, {}, 'made', 'about'],
    ['a forced rule with a page', { _redirects: '/api/* /about.html 200!' }, {}, 'about', '404 Not Found\n'],
    ['no fallback', {}, {}, 'made', '404 Not Found\n'],
    ['a 404 page and no fallback', { '404.html': 'lost' }, {}, 'made', 'lost'],
    ['a redirect', { _redirects: '/api/* https://a.example/:splat 302' }, {}, '', '404 Not Found\n'],
  ] as const)('answers first with %s', async (_what, more, rules, made, passedOn) => {
    const folder = await buildFixture(
      { 'index.html': 'page', 'about.html': 'about', ...more },
      { appType: 'spa' },
    )
    const entry = await writeFixture({ 'entry.mjs': applications[0][1] })
    const { port } = await startServer(folder, { ssr: join(entry, 'entry.mjs'), site: { rules } })
    const bodies = ['/api/login', '/users'].map(async (target) =>
      (await rawRequest(port, { target, fields: navigation })).body.toString(),
    )
    expect(await Promise.all(bodies)).toEqual([made, passedOn])
  })
})

describe('liveCodings', () => {
  test('is encoded with zstd if Node supports it', () => {
    const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
    const hasZstd = major > 23 || (major === 23 && minor >= 8) || (major === 22 && minor >= 15)
    expect([...liveCodings]).toEqual(hasZstd ? ['zstd', 'br', 'gzip'] : ['br', 'gzip'])
  })
})

describe('a failing module', () => {
  test.each([
    ['throws', 'export default (req, res) => { res.setHeader("X-Mine", "1"); throw new Error("broken") }'],
    ['rejects', 'export default async (req, res) => { throw new Error("broken") }'],
    ['calls next with an error', 'export default (req, res, next) => next(new Error("broken"))'],
    ['throws in fetch', 'export default { fetch() { throw new Error("broken") } }'],
    ['answers no Response', 'export default { fetch: () => "text" }'],
    [
      'fails in Express',
      `import express from ${urlOf('express')}; export const app = express(); app.use(() => { throw new Error("broken") })`,
    ],
    ['rejects with nothing', 'export default async (req, res) => { throw undefined }'],
  ])('gets a 500 if it %s, and the server keeps running', async (_what, source) => {
    const port = await serveWith(source)
    for (let times = 0; times < 2; times += 1) {
      const response = await rawRequest(port, { target: '/page' })
      expect([response.status, response.field('Cache-Control')]).toEqual([500, 'no-store'])
      expect(response.field('X-Mine')).toBeUndefined()
    }
    const file = await rawRequest(port, { target: '/a.txt' })
    expect(file.status).toBe(200)
  })

  test.each([
    [
      'a Node handler',
      'export default async (req, res) => { res.writeHead(200, { "Content-Type": "text/html" }); res.write("begun"); throw new Error("broken") }',
    ],
    [
      'a stream',
      'export default (request) => new Response(new ReadableStream({ pull(c) { if (this.sent) return c.error(new Error("broken")); this.sent = true; c.enqueue(new TextEncoder().encode("begun")) } }), { headers: { "Content-Type": "text/html" } })',
    ],
  ])('cuts the connection if it fails in mid-body: %s', async (_what, source) => {
    const port = await serveWith(source)
    for (const coding of ['br', 'identity']) {
      const connection = await openConnection(port)
      connection.send(formatRequest({ target: '/page', fields: { 'Accept-Encoding': coding } }))
      await expect(connection.receive()).rejects.toThrow(/closed after/)
    }
  })

  const begin = 'res.writeHead(200, { "Content-Type": "text/html" }); res.write("begun");'
  test.each([
    ['throws', `${begin} await told; throw new Error("broken")`, true],
    ['destroys it', `${begin} await told; res.destroy()`, true],
    [
      'has a stream that fails',
      `${begin} await pipeline(async function* () { await told; throw new Error("broken") }, res)`,
      true,
    ],
    ['ends it', `${begin} await told; res.end()`, false],
    ['ends its response, then fails', `${begin} await told; res.end(); throw new Error("broken")`, false],
  ])(
    'resets a connection whose end would look like the end of the body: %s',
    async (_what, source, isCut) => {
      const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
      const port = await serveWith(
        `import { pipeline } from 'node:stream/promises'; let go; export default async (req, res) => {
      if (req.url === '/go') { go(); return res.end() }
      const told = new Promise((resolve) => { go = resolve }); ${source} }`,
      )
      for (const coding of ['br', 'identity']) {
        const connection = await openConnection(port)
        connection.send(`GET /page HTTP/1.0\r\nAccept-Encoding: ${coding}\r\n\r\n`)
        await once(connection.socket, 'data')
        const closed = waitForReset(connection.socket)
        await rawRequest(port, { target: '/go' })
        expect(await closed).toBe(isCut)
      }
      stderr.mockRestore()
    },
  )

  test.each([
    ['HTTP/1.0', begin, true],
    ['HTTP/1.0', `res.setHeader("Content-Length", 6); ${begin}`, false],
    ['HTTP/1.1', begin, false],
    ['HTTP/1.1', `res.removeHeader("Transfer-Encoding"); ${begin}`, true],
    ['HTTP/1.1', 'res.end(Buffer.alloc(2 ** 24))', false],
  ])(
    'that never ends its response has its connection reset at a stop, if the end would be ambiguous: %s, %s',
    async (version, source, isCut) => {
      const directory = await writeFixture({ 'entry.mjs': `export default (req, res) => { ${source} }` })
      const ssr = join(directory, 'entry.mjs')
      const server = await startServer(build, { ssr, gracePeriod: 100 })
      const connection = await openConnection(server.port)
      connection.send(`GET /page ${version}\r\nHost: a\r\n\r\n`)
      await once(connection.socket, 'data')
      // A client that keeps reading gets the whole body in time.
      connection.socket.pause()
      const closed = waitForReset(connection.socket)
      await server.close()
      connection.socket.resume()
      expect(await closed).toBe(isCut)
    },
  )

  test('that ended its connection in mid-body leaves no connection behind at a stop', async () => {
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    const directory = await writeFixture({
      'entry.mjs': `export default (req, res) => { ${begin} res.socket.end(); throw new Error("broken") }`,
    })
    const server = await startServer(build, { ssr: join(directory, 'entry.mjs'), gracePeriod: 100 })
    const connection = await openConnection(server.port)
    connection.send('GET /page HTTP/1.0\r\n\r\n')
    await once(connection.socket, 'end')
    await expect(server.close()).resolves.toBeUndefined()
    stderr.mockRestore()
  })

  test.each([
    ['throws', 'throw new Error("late")'],
    ['throws later', 'setImmediate(() => next(new Error("late")))'],
    ['ends again', 'res.end()'],
    ['ends again with more', 'res.end("more")'],
    ['writes more', 'res.write("more")'],
    ['sets fields', 'res.setHeader("X-Late", "1")'],
  ])('that fails after the end of its response does not damage it: %s', async (_what, late) => {
    const port = await serveWith(
      `const text = ${JSON.stringify(text)}; export const handler = (req, res, next) => {
      res.setHeader("Content-Type", "text/html"); res.end(text); ${late} }`,
    )
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
    for (const coding of ['br', 'gzip', 'identity']) {
      const { body, status } = await fetchText(port, coding)
      expect([coding, status, body === text]).toEqual([coding, 200, true])
    }
    stderr.mockRestore()
  })

  test('observes the same response events and values with and without compression', async () => {
    const port = await serveWith(
      `const states = []; export default (req, res) => {
      if (req.url === "/states") return res.end(JSON.stringify(states))
      const tell = () => states.push([res.headersSent, res.writableEnded])
      res.setHeader("Content-Type", "text/html"); tell(); res.end(${JSON.stringify(text)}); tell() }`,
    )
    for (const coding of ['identity', 'br']) await fetchText(port, coding)
    const { body } = await rawRequest(port, { target: '/states' })
    const each = [
      [false, false],
      [true, true],
    ]
    expect(JSON.parse(body.toString())).toEqual([...each, ...each])
  })

  test('is notified when its ended response was sent, with and without compression', async () => {
    const port = await serveWith(
      `const told = []; export default (req, res) => {
      if (req.url === "/told") return res.end(JSON.stringify(told))
      const tell = (error) => told.push(error?.code ?? "ended")
      res.setHeader("Content-Type", "text/html")
      res.end(${JSON.stringify(text)}, () => { tell(); res.end(tell); res.end(null, tell) }) }`,
    )
    for (const coding of ['identity', 'br']) await fetchText(port, coding)
    const { body } = await rawRequest(port, { target: '/told' })
    const late = 'ERR_STREAM_ALREADY_FINISHED'
    const each = ['ended', late, late]
    expect(JSON.parse(body.toString())).toEqual([...each, ...each])
  })

  test('is notified when its client disconnects', async () => {
    const port = await serveWith(`let aborted; const gone = new Promise((resolve) => { aborted = resolve })
      export default { async fetch(request) {
        if (request.url.endsWith('/gone')) return new Response(String(await gone))
        request.signal.addEventListener('abort', () => aborted('gone'))
        return new Response(new ReadableStream({ start(c) { c.enqueue(new TextEncoder().encode('begun')) } }), { headers: { 'Content-Type': 'text/html' } }) } }`)
    const abort = new AbortController()
    const response = await fetch(`http://127.0.0.1:${port}/page`, { signal: abort.signal })
    await response.body?.getReader().read()
    abort.abort()
    const { body } = await rawRequest(port, { target: '/gone' })
    expect(body.toString()).toBe('gone')
  })
})

describe('serve-dist --ssr', () => {
  test('survives uncaught errors of the module: it fails the request and logs them', async () => {
    const directory = await writeFixture({
      'entry.mjs': `import { createReadStream } from 'node:fs'
        export default (req, res) => {
          if (req.url === '/timer') setTimeout(() => { throw new Error('thrown later') })
          else if (req.url === '/rejection') void Promise.reject(new Error('rejected later'))
          else if (req.url === '/stream') createReadStream('/no/such/file').pipe(res)
          else if (req.url === '/twice') { res.end('once'); res.write('twice') }
          else res.end('made') }`,
    })
    const command = spawnCommand([build, '--port', '0', '--ssr', join(directory, 'entry.mjs')])
    const { port } = await command.listening
    for (const target of ['/timer', '/rejection', '/stream']) {
      const failed = await rawRequest(port, { target })
      expect([target, failed.status]).toEqual([target, 500])
    }
    const twice = await rawRequest(port, { target: '/twice' })
    expect(twice.body.toString()).toBe('once')
    const made = await rawRequest(port, { target: '/api' })
    expect(made.body.toString()).toBe('made')
    command.child.kill('SIGTERM')
    const { code, stderr } = await command.exited
    expect(code).toBe(0)
    for (const what of ['GET /timer', 'thrown later', 'rejected later', 'ENOENT'])
      expect(stderr).toContain(what)
  })

  describe('that cannot start exits, even if the module has pending work', () => {
    const busy = 'setInterval(() => {}, 1000);'
    const breakServers = `
      import http from 'node:http'
      import { syncBuiltinESMExports } from 'node:module'
      http.createServer = () => { throw new Error('broken') }
      syncBuiltinESMExports()`

    test.each([
      ['exports no handler', busy, [], 'exports no handler'],
      ['finds its port taken', `${busy} export default () => {}`, [], 'is in use'],
      [
        'finds its port taken, with workers',
        `${busy} export default () => {}`,
        ['--workers', '2'],
        'is in use',
      ],
    ])('if it %s', async (_what, source, flags, message) => {
      const { port } = await startServer(build)
      const entry = join(await writeFixture({ 'entry.mjs': source }), 'entry.mjs')
      const args = [build, '--port', String(port), '--ssr', entry, ...flags]
      const { code, stderr } = await spawnCommand(args).exited
      expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
    })

    test('if an unforeseen error occurs', async () => {
      const entry = join(await writeFixture({ 'entry.mjs': `${busy} export default () => {}` }), 'entry.mjs')
      const nodeOptions = ['--import', `data:text/javascript,${encodeURIComponent(breakServers)}`]
      const { code, stderr } = await spawnCommand([build, '--port', '0', '--ssr', entry], { nodeOptions })
        .exited
      expect([code, stderr]).toEqual([1, expect.stringContaining('Error: broken')])
    })
  })

  test('exits with one message if the module exports no application', async () => {
    const { code, stderr } = await spawnCommand([build, '--port', '0', '--ssr', 'no/such.js']).exited
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^serve-dist: SD_APPLICATION_UNUSABLE: no\/such\.js: no such module\. .+\n$/),
    ])
  })
})
