import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { requestTwice } from '../support/request-twice.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

const immutable = 'public, max-age=31536000, immutable'
const hashed = '/assets/app-1a2b3c.js'

let server: StartedServer
beforeAll(async () => {
  const directory = await buildFixture(
    {
      'index.html': 'page',
      'docs/index.html': 'docs',
      'assets/app-1a2b3c.js': compressibleText(3000),
      'assets/copied-from-public.js': 'copied',
      'robots.txt': 'User-agent: *',
    },
    { appType: 'spa', assetsDirectory: 'assets', isHashed: (path) => path.includes('-1a2b3c') },
  )
  server = await startServer(directory)
})

describe('Cache-Control', () => {
  test.each([
    ['a name that the bundler hashed', {}, hashed, 200, immutable],
    ['a coding of this file', { 'Accept-Encoding': 'br' }, hashed, 200, immutable],
    ['a range of this file', { Range: 'bytes=0-9' }, hashed, 206, immutable],
    ['a 304 of it', { 'If-None-Match': '*' }, hashed, 304, immutable],
    ['a page', {}, '/', 200, 'no-cache'],
    ['a 304 of a page', { 'If-None-Match': '*' }, '/', 304, 'no-cache'],
    ['the fallback page', { Accept: 'text/html' }, '/users', 200, 'no-cache'],
    ['a file in the assets folder without a hash', {}, '/assets/copied-from-public.js', 200, 'no-cache'],
    ['a file of the root', {}, '/robots.txt', 200, 'no-cache'],
    ['a redirect', {}, '/docs', 308, 'no-cache'],
    ['a missing asset', {}, '/assets/app-0d0d0d.js', 404, 'no-store'],
    ['a malformed path', {}, '/%', 400, 'no-store'],
    ['a refused identity', { 'Accept-Encoding': '*;q=0' }, hashed, 406, 'no-store'],
    ['a failed condition', { 'If-Match': '"x"' }, hashed, 412, 'no-store'],
    ['a range beyond the end', { Range: 'bytes=99999-' }, hashed, 416, 'no-store'],
  ])('of %s (%j %s → %d) is %s', async (_what, fields, target, status, value) => {
    const response = await requestTwice(server.port, { target, fields })
    expect([response.status, response.field('Cache-Control')]).toEqual([status, value])
    expect(response.field('Pragma')).toBeUndefined()
    expect(response.field('Expires')).toBeUndefined()
  })

  test('of a method that is not allowed is no-store', async () => {
    const response = await requestTwice(server.port, { method: 'POST', target: hashed })
    expect([response.status, response.field('Cache-Control')]).toEqual([405, 'no-store'])
  })
})

describe('validators', () => {
  test.each(['/', hashed, '/robots.txt'])('of %s are a strong tag and a date in the past', async (target) => {
    const response = await requestTwice(server.port, { target })
    expect(response.field('ETag')).toMatch(/^"[\w-]{22}"$/)
    const lastModified = Date.parse(response.field('Last-Modified') ?? '')
    expect(lastModified).toBeGreaterThan(Date.UTC(2020, 0, 1))
    expect(lastModified).toBeLessThanOrEqual(Date.parse(response.field('Date') ?? ''))
  })

  test('depend only on the content: two servers of one build agree', async () => {
    const files = { 'index.html': compressibleText(4000) }
    const [one, other] = await Promise.all([
      startServer(await buildFixture(files)),
      startServer(await buildFixture(files)),
    ])
    for (const coding of ['identity', 'zstd', 'br', 'gzip']) {
      const request = { target: '/', fields: { 'Accept-Encoding': coding } }
      const [left, right] = await Promise.all([
        requestTwice(one.port, request),
        requestTwice(other.port, request),
      ])
      expect(left.field('ETag')).toBe(right.field('ETag'))
    }
  })
})
