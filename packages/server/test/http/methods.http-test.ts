import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { requestTwice } from '../support/request-twice.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

const allowed = 'GET, HEAD, OPTIONS'

let server: StartedServer
let streaming: StartedServer
beforeAll(async () => {
  const directory = await buildFixture({
    'index.html': 'page',
    'docs/index.html': 'docs',
    'a.js': compressibleText(3000),
    'large.js': compressibleText(300_000),
    'empty.txt': '',
    'pixels.png': 'pixels',
  })
  server = await startServer(directory)
  streaming = await startServer(directory, { site: { memoryBudget: 0 } })
})

describe('HEAD', () => {
  const fieldSets = [
    {},
    { 'Accept-Encoding': 'zstd, br, gzip' },
    { 'Accept-Encoding': 'gzip' },
    { 'Accept-Encoding': '*;q=0' },
    { 'If-None-Match': '*' },
    { 'If-Match': '"x"' },
    { Accept: 'text/html', 'Accept-Encoding': 'br' },
  ]
  const targets = [
    '/',
    '/docs',
    '/docs/',
    '/a.js',
    '/large.js',
    '/empty.txt',
    '/pixels.png',
    '/unknown',
    '/%',
  ]

  test.each(targets)('of %s has the fields of GET for every request, and no body', async (target) => {
    for (const { port } of [server, streaming]) {
      for (const fields of fieldSets) {
        const get = await requestTwice(port, { target, fields })
        const head = await requestTwice(port, { method: 'HEAD', target, fields })
        const withoutDate = ({ fields: lines }: typeof get) => lines.filter(([name]) => name !== 'Date')
        expect([head.status, withoutDate(head)]).toEqual([get.status, withoutDate(get)])
        expect(head.field('Date')).toBeDefined()
        expect(head.field('Transfer-Encoding')).toBeUndefined()
      }
    }
  })

  test('ignores Range (RFC 9110 §14.2)', async () => {
    const head = await requestTwice(server.port, {
      method: 'HEAD',
      target: '/a.js',
      fields: { Range: 'bytes=0-4' },
    })
    const get = await requestTwice(server.port, { target: '/a.js' })
    expect([head.status, head.field('Content-Length')]).toEqual([200, get.field('Content-Length')])
    expect(head.field('Content-Range')).toBeUndefined()
  })
})

describe('OPTIONS', () => {
  test.each(['/', '/a.js', '/docs', '/index.html'])('of %s is 204 with the methods', async (target) => {
    const response = await requestTwice(server.port, { method: 'OPTIONS', target })
    expect([response.status, response.field('Allow'), response.framing]).toEqual([204, allowed, 'none'])
    expect(response.field('Content-Length')).toBeUndefined()
    expect(response.field('Transfer-Encoding')).toBeUndefined()
  })

  test('of the server as a whole (*) is 204', async () => {
    const response = await requestTwice(server.port, { method: 'OPTIONS', target: '*' })
    expect([response.status, response.field('Allow')]).toEqual([204, allowed])
  })

  test('of an unknown path is 404', async () => {
    const response = await requestTwice(server.port, { method: 'OPTIONS', target: '/unknown' })
    expect(response.status).toBe(404)
  })
})

describe('any other method', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'M-SEARCH', 'QUERY'])(
    '%s is 405 on a known path and 404 on an unknown one',
    async (method) => {
      const known = await requestTwice(server.port, { method, target: '/a.js' })
      expect([known.status, known.field('Allow'), known.field('Cache-Control')]).toEqual([
        405,
        allowed,
        'no-store',
      ])
      const unknown = await requestTwice(server.port, {
        method,
        target: '/unknown',
        fields: { Accept: 'text/html' },
      })
      expect([unknown.status, unknown.field('Allow')]).toEqual([404, undefined])
    },
  )

  test('POST to a path that redirects is 405 because a redirect would resend the body elsewhere', async () => {
    const response = await requestTwice(server.port, { method: 'POST', target: '/docs' })
    expect([response.status, response.field('Location')]).toEqual([405, undefined])
  })

  test('a method that HTTP does not define gets 400', async () => {
    const response = await requestTwice(server.port, { method: 'BREW', target: '/a.js' })
    expect(response.status).toBe(400)
  })
})
