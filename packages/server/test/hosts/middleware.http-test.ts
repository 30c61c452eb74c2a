import type { IncomingMessage, ServerResponse } from 'node:http'
import compression from 'compression'
import connect from 'connect'
import express from 'express'
import express4 from 'express4'
import polka from 'polka'
import { beforeAll, describe, expect, test } from 'vitest'
import { createHandler } from '../../src/hosts/handler.ts'
import type { HandlerOptions } from '../../src/hosts/handler-options.ts'
import { loadSite } from '../../src/load/load-site.ts'
import type { Site } from '../../src/site/site.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { rawRequest, type RawRequest } from '../support/raw-request.ts'
import { startListener } from '../support/start-listener.ts'

const navigation = { 'Sec-Fetch-Mode': 'navigate' }
const immutable = 'public, max-age=31536000, immutable'

type Middleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

// The types require an Express request, but the code uses only Node's.
const compressing: Middleware = (request, response, next) =>
  Reflect.apply(compression({ threshold: 0 }), undefined, [request, response, next])

const handler = (site: Site, options: HandlerOptions = {}): Middleware => createHandler(site, options)

const varying =
  (value: string): Middleware =>
  (_request, response, next) => {
    response.setHeader('Vary', value)
    next()
  }

const setting: Middleware = (_request, response, next) => {
  response.setHeader('cache-control', 'private')
  response.setHeader('X-Request-Id', '7')
  response.setHeader('Set-Cookie', ['a=1', 'b=2'])
  next()
}

/** Sets fields that describe another body. */
const describing: Middleware = (_request, response, next) => {
  response.setHeader('Content-Type', 'text/css')
  response.setHeader('Content-Length', '5')
  response.setHeader('Content-Encoding', 'gzip')
  response.setHeader('Content-Language', 'de')
  response.setHeader('ETag', '"theirs"')
  response.setHeader('X-Mine', '1')
  next()
}

/** Sets fields that tell CDNs how long to keep other responses. */
const keeping: Middleware = (_request, response, next) => {
  response.setHeader('CDN-Cache-Control', 'max-age=60')
  response.setHeader('Surrogate-Control', 'max-age=60')
  response.setHeader('Expires', 'Mon, 23 Nov 2099 00:00:00 GMT')
  next()
}

/** The handler after serve-dist. Its response reports what it got. */
function answerNext(request: IncomingMessage, response: ServerResponse): void {
  response.statusCode = 299
  response.end(`next ${request.method} ${request.url}`)
}

const hosts: Readonly<Record<string, (middlewares: readonly Middleware[]) => Promise<number>>> = {
  'node:http': (middlewares) =>
    startListener((request, response) => {
      const run = (index: number): void => {
        const middleware = middlewares[index]
        if (middleware === undefined) answerNext(request, response)
        else middleware(request, response, () => run(index + 1))
      }
      run(0)
    }),
  'Express 5': (middlewares) => {
    const app = express()
    for (const middleware of middlewares) app.use(middleware)
    app.use(answerNext)
    return startListener(app)
  },
  'Express 4': (middlewares) => {
    const app = express4()
    for (const middleware of middlewares) app.use(middleware)
    app.use(answerNext)
    return startListener(app)
  },
  Connect: (middlewares) => {
    const app = connect()
    for (const middleware of middlewares) app.use(middleware)
    app.use(answerNext)
    return startListener(app)
  },
  Polka: (middlewares) => {
    const app = polka({ onNoMatch: answerNext })
    for (const middleware of middlewares) app.use(middleware)
    return startListener((request, response) => void Reflect.apply(app.handler, app, [request, response]))
  },
}

let held: Site
let streamed: Site
let severalPages: Site
beforeAll(async () => {
  const files = {
    'index.html': compressibleText(2000, 'page'),
    'docs/index.html': 'docs',
    'assets/app-1a2b3c.js': compressibleText(300_000),
    'pixels.png': 'pixels',
    'empty.txt': '',
  }
  const options = { assetsDirectory: 'assets', isHashed: (path: string) => path.includes('-1a2b3c') }
  const directory = await buildFixture(files, { ...options, appType: 'spa' })
  held = await loadSite(directory)
  streamed = await loadSite(directory, { memoryBudget: 0 })
  severalPages = await loadSite(await buildFixture({ ...files, '404.html': 'not found' }, options))
})

/** Requests and their statuses. 299 is the status of the next handler. */
const exchanges: readonly (readonly [string, RawRequest, number])[] = [
  ['a page', { target: '/' }, 200],
  ['a file in zstd', { target: '/assets/app-1a2b3c.js', fields: { 'Accept-Encoding': 'zstd, br' } }, 200],
  ['a file in br', { target: '/assets/app-1a2b3c.js', fields: { 'Accept-Encoding': 'br' } }, 200],
  ['a file without variants', { target: '/pixels.png', fields: { 'Accept-Encoding': 'br' } }, 200],
  ['an empty file', { target: '/empty.txt' }, 200],
  ['HEAD', { method: 'HEAD', target: '/assets/app-1a2b3c.js' }, 200],
  ['a range', { target: '/assets/app-1a2b3c.js', fields: { Range: 'bytes=5-70000' } }, 206],
  [
    'a range that is not there',
    { target: '/assets/app-1a2b3c.js', fields: { Range: 'bytes=9999999-' } },
    416,
  ],
  ['a condition that holds', { target: '/assets/app-1a2b3c.js', fields: { 'If-None-Match': '*' } }, 304],
  ['a condition that fails', { target: '/assets/app-1a2b3c.js', fields: { 'If-Match': '"x"' } }, 412],
  ['a refused identity', { target: '/pixels.png', fields: { 'Accept-Encoding': '*;q=0' } }, 406],
  ['a redirect', { target: '/docs?a=b' }, 308],
  ['OPTIONS', { method: 'OPTIONS', target: '/' }, 204],
  ['a method that is not ours', { method: 'POST', target: '/' }, 299],
  ['a method that is not ours, to a redirect', { method: 'POST', target: '/docs' }, 299],
  ['an unknown path', { target: '/api/users?x=1' }, 299],
  ['an unknown path by HEAD', { method: 'HEAD', target: '/api/users' }, 299],
  ['an unknown path by POST', { method: 'POST', target: '/api/users' }, 299],
  ['OPTIONS of an unknown path', { method: 'OPTIONS', target: '/api/users' }, 299],
  ['a navigation to an unknown path', { target: '/users', fields: navigation }, 299],
  ['a missing asset', { target: '/assets/app-old.js' }, 299],
  ['a parent segment', { target: '/docs/../index.html' }, 299],
]

describe.each(Object.keys(hosts))('as middleware of %s', (name) => {
  const start = (...middlewares: readonly Middleware[]): Promise<number> => {
    const host = hosts[name]
    if (host === undefined) throw new TypeError(`no host ${name}`)
    return host(middlewares)
  }

  test.each(exchanges)('%s gets the usual answer, or is passed on', async (_what, request, status) => {
    for (const site of [held, streamed]) {
      const response = await rawRequest(await start(handler(site)), request)
      expect(response.status).toBe(status)
      const isPassedOn = status === 299 && request.method !== 'HEAD'
      expect(response.body.toString().startsWith('next ')).toBe(isPassedOn)
      expect(isPassedOn || response.framing !== 'chunked').toBe(true)
    }
  })

  test('sends the same fields and bytes as the server', async () => {
    const [alone, behind] = await Promise.all([startListener(createHandler(held)), start(handler(held))])
    for (const [what, request, status] of exchanges) {
      if (status === 299) continue
      const [expected, found] = await Promise.all([rawRequest(alone, request), rawRequest(behind, request)])
      const fields = found.fields.filter(([field]) => !['Date', 'X-Powered-By'].includes(field))
      expect([what, fields]).toEqual([what, expected.fields.filter(([field]) => field !== 'Date')])
      expect(found.body.equals(expected.body)).toBe(true)
    }
  })

  test('passes the whole request on, including its query', async () => {
    const response = await rawRequest(await start(handler(held)), {
      method: 'POST',
      target: '/api/a%20b?c=%64',
    })
    expect(response.body.toString()).toBe('next POST /api/a%20b?c=%64')
  })

  test('gives only navigations the page if the fallback is spa', async () => {
    const port = await start(handler(held, { fallback: 'spa' }))
    const page = await rawRequest(port, { target: '/users', fields: navigation })
    expect([page.status, page.field('Content-Type')]).toEqual([200, 'text/html; charset=utf-8'])
    for (const request of [{ target: '/users.json' }, { target: '/assets/old.js', fields: navigation }]) {
      const response = await rawRequest(port, request)
      expect(response.status).toBe(299)
    }
  })

  test('gives navigations the 404 page if the fallback is 404', async () => {
    const [silent, told] = await Promise.all([
      start(handler(severalPages)),
      start(handler(severalPages, { fallback: '404' })),
    ])
    const request = { target: '/users', fields: navigation }
    const [passed, answered] = await Promise.all([rawRequest(silent, request), rawRequest(told, request)])
    expect([passed.status, answered.status, answered.body.toString()]).toEqual([299, 404, 'not found'])
  })

  test('after compression() is not encoded twice', async () => {
    for (const site of [held, streamed]) {
      const port = await start(compressing, handler(site))
      for (const coding of ['zstd', 'br', 'gzip']) {
        const response = await rawRequest(port, {
          target: '/assets/app-1a2b3c.js',
          fields: { 'Accept-Encoding': coding },
        })
        const expected = held.table.get('/assets/app-1a2b3c.js')
        const body =
          expected?.kind === 'resource' &&
          expected.representations.find((candidate) => candidate.coding === coding)?.bytes.body
        expect([response.status, response.field('Content-Encoding')]).toEqual([200, coding])
        expect(body instanceof Uint8Array && response.body.equals(body)).toBe(true)
        expect(response.field('Content-Length')).toBe(String(response.body.length))
        expect(response.field('Cache-Control')).toBe(immutable)
      }
    }
  })

  test('after compression() sends the identity and its ranges unencoded', async () => {
    for (const site of [held, streamed]) {
      const port = await start(compressing, handler(site))
      const target = '/assets/app-1a2b3c.js'
      const alone = await rawRequest(await start(handler(site)), { target })
      for (const fields of [
        { Range: 'bytes=100-5000', 'Accept-Encoding': 'br' },
        { 'Accept-Encoding': 'deflate' },
      ]) {
        const response = await rawRequest(port, { target, fields })
        const [first, end] = 'Range' in fields ? [100, 5001] : [0, alone.body.length]
        expect(response.field('Content-Encoding')).toBeUndefined()
        expect(response.body.equals(alone.body.subarray(first, end))).toBe(true)
        expect(response.field('Content-Length')).toBe(String(response.body.length))
        expect(response.field('ETag')).toBe(alone.field('ETag'))
        expect(response.field('Cache-Control')).toBe(`${immutable}, no-transform`)
      }
      const notModified = await rawRequest(port, { target, fields: { 'If-None-Match': '*' } })
      expect([notModified.status, notModified.field('Cache-Control')]).toEqual([304, immutable])
    }
  })

  test.each([
    [{ target: '/pixels.png', fields: { 'If-None-Match': '*' } }, 304, undefined, undefined],
    [{ target: '/pixels.png', fields: { 'If-Match': '"x"' } }, 412, 'text/plain; charset=utf-8', undefined],
    [{ target: '/docs' }, 308, undefined, undefined],
    [{ target: '/docs/' }, 200, 'text/html; charset=utf-8', 'de'],
  ])('removes fields that describe another body: %j', async (request, status, type, language) => {
    const port = await start(describing, handler(held))
    const response = await rawRequest(port, request)
    expect([response.status, response.field('Content-Type')]).toEqual([status, type])
    expect(response.field('ETag')).not.toBe('"theirs"')
    expect(response.field('Content-Length')).not.toBe('5')
    expect(response.field('Content-Encoding')).toBeUndefined()
    expect(response.field('X-Mine')).toBe('1')
    expect(status === 304 || status === 200 ? response.field('Content-Language') : language).toBe(language)
  })

  test.each([
    ['/%zz', {}, 400],
    ['/', { 'Accept-Encoding': '*;q=0' }, 406],
    ['/', { 'If-Match': '"x"' }, 412],
    ['/', { Range: 'bytes=99999999-' }, 416],
  ])('prevents CDNs from caching the error of %s with %j', async (target, fields, status) => {
    const port = await start(keeping, handler(held))
    const response = await rawRequest(port, { target, fields })
    const kept = ['Cache-Control', 'CDN-Cache-Control', 'Surrogate-Control', 'Expires'].map(response.field)
    expect([response.status, ...kept]).toEqual([status, 'no-store', undefined, undefined, undefined])
    expect((await rawRequest(port, {})).field('CDN-Cache-Control')).toBe('max-age=60')
  })

  test.each([
    ['Origin', '/', 'Origin, Accept-Encoding'],
    ['origin, accept-encoding', '/', 'origin, accept-encoding'],
    ['*', '/', '*'],
    ['Origin', '/pixels.png', 'Origin'],
  ])('extends an existing Vary: %s of %s becomes %s', async (before, target, after) => {
    const response = await rawRequest(await start(varying(before), handler(held)), { target })
    expect(response.field('Vary')).toBe(after)
  })

  test('replaces fields of the same name, and keeps the others', async () => {
    const response = await rawRequest(await start(setting, handler(held)), {
      target: '/assets/app-1a2b3c.js',
    })
    expect([response.field('Cache-Control'), response.field('X-Request-Id')]).toEqual([immutable, '7'])
    expect(response.fields.filter(([field]) => field === 'Set-Cookie').map(([, value]) => value)).toEqual([
      'a=1',
      'b=2',
    ])
  })

  test('a malformed path gets 400 and is not passed on', async () => {
    const response = await rawRequest(await start(handler(held)), { target: '/%' })
    expect(response.status).toBe(400)
  })
})

test("a rule's value that is a field name does not let compression() encode a range", async () => {
  const site = await loadSite(await buildFixture({ 'a.txt': compressibleText(30_000) }), {
    rules: { headers: { '**': { 'Access-Control-Expose-Headers': 'Content-Encoding' } } },
  })
  const port = await startListener(express().use(compressing, handler(site)))
  const fields = { Range: 'bytes=100-5000', 'Accept-Encoding': 'br' }
  const response = await rawRequest(port, { target: '/a.txt', fields })
  expect([response.status, response.field('Content-Encoding')]).toEqual([206, undefined])
  expect(response.body).toHaveLength(4901)
})

describe('as middleware of Express under a path', () => {
  test('matches the rest of the path, as Express passes it', async () => {
    const app = express()
    app.use('/sub', createHandler(held))
    app.use(answerNext)
    const port = await startListener(app)
    const inside = await rawRequest(port, { target: '/sub/pixels.png' })
    const outside = await rawRequest(port, { target: '/pixels.png' })
    expect([inside.status, outside.status]).toEqual([200, 299])
  })

  test.each([
    ['Express 5', () => express().use('/sub', handler(held)).use(answerNext)],
    ['Express 4', () => express4().use('/sub', handler(held)).use(answerNext)],
    ['Connect', () => connect().use('/sub', handler(held)).use(answerNext)],
  ])('redirects within that path: %s', async (name, make) => {
    const port = await startListener(make())
    const locationOf = async (target: string): Promise<unknown> => {
      const response = await rawRequest(port, { target })
      return [response.status, response.field('Location')]
    }
    expect(await locationOf('/sub/docs?a=b')).toEqual([308, '/sub/docs/?a=b'])
    expect(await locationOf('/sub/docs/')).toEqual([200, undefined])
    expect(await locationOf('/sub/')).toEqual([200, undefined])
    // Connect cannot tell a mount path from a rewritten URL.
    expect(await locationOf('/sub?a=b')).toEqual(name === 'Connect' ? [200, undefined] : [308, '/sub/?a=b'])
  })
})
