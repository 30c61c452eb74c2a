import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest } from '../support/raw-request.ts'
import { requestTwice } from '../support/request-twice.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

const navigation = { 'Sec-Fetch-Mode': 'navigate' }
const byFetch = { 'Sec-Fetch-Mode': 'cors', Accept: '*/*' }
const html = 'text/html; charset=utf-8'

const names = [
  'plain.txt',
  'with space.txt',
  'plus+and&.txt',
  'per%cent.txt',
  '100%25.txt',
  'br[ack]et(s).txt',
  'quo\'te"s.txt',
  'hash#mark?.txt',
  'semi;colon:at@.txt',
  '日本語.txt',
  'caf\u00e9.txt',
  'cafe\u0301-decomposed.txt',
  'emoji-😀.txt',
  'tilde~under_score-.txt',
  'noextension',
  'two.dots.txt',
]

describe('a single-page application', () => {
  let server: StartedServer
  beforeAll(async () => {
    const directory = await buildFixture(
      {
        'index.html': `<!doctype html>${compressibleText(2000)}`,
        'about.html': 'about',
        'docs/index.html': 'docs',
        'docs/guide.html': 'guide',
        'assets/app-1a2b3c.js': compressibleText(3000),
        'data.csv.gz': 'not really gzip',
        '.well-known/security.txt': 'Contact: mailto:security@example.org',
        '.secret/key': 'secret',
        '.env': 'SECRET=1',
        '.vite/manifest.json': '{}',
        ...Object.fromEntries(names.map((name) => [`names/${name}`, name])),
      },
      { assetsDirectory: 'assets', appType: 'spa', isHashed: (path) => path.startsWith('assets/') },
    )
    server = await startServer(directory)
  })

  test.each(names)('serves the file %s under its encoded name', async (name) => {
    const response = await requestTwice(server.port, { target: `/names/${encodeURIComponent(name)}` })
    expect([response.status, response.body.toString()]).toEqual([200, name])
  })

  // RFC 3986 §2: a URI is ASCII. Node's parser rejects the request before it reaches the server's code.
  test.each([
    ['raw octets beyond ASCII', '/names/caf\u00c3\u00a9.txt'],
    ['raw octets that are no UTF-8', '/\u00ff'],
    ['a target without a slash', 'about'],
    ['a control character', '/names/\u0001'],
  ])('rejects %s with 400 and closes', async (_what, target) => {
    const connection = await openConnection(server.port)
    connection.send(formatRequest({ target }))
    const response = await connection.receive()
    expect([response.status, response.field('Connection')]).toEqual([400, 'close'])
    expect(await connection.rest()).toHaveLength(0)
  })

  test.each([
    ['the root', '/', html],
    ['its name', '/index.html', html],
    ['a folder', '/docs/', html],
    ['a page in a folder', '/docs/guide', html],
    ['a page', '/about', html],
    ['a page by its name', '/about.html', html],
    ['a file with a query', '/names/plain.txt?v=1&x=%zz//', 'text/plain; charset=utf-8'],
    ['an absolute form', 'http://example.org/about', html],
    ['an absolute form of https and another host', 'https://other.example:99/about?q', html],
    ["a user's own compressed file", '/data.csv.gz', 'application/gzip'],
    ['.well-known', '/.well-known/security.txt', 'text/plain; charset=utf-8'],
  ])('answers %s (%s) with 200', async (_what, target, type) => {
    const response = await requestTwice(server.port, { target })
    expect([response.status, response.field('Content-Type')]).toEqual([200, type])
    expect(response.field('X-Content-Type-Options')).toBe('nosniff')
    expect(response.field('Content-Encoding')).toBeUndefined()
  })

  test.each([
    ['a folder without its slash', '/docs', '/docs/'],
    ['a page with a slash', '/about/', '/about'],
    ['a page in a folder with a slash', '/docs/guide/', '/docs/guide'],
    ['a query', '/docs?a=b&c=//d', '/docs/?a=b&c=//d'],
    ['an empty query', '/docs?', '/docs/?'],
    ['other escapes', '/%64ocs?a', '/docs/?a'],
    ['an absolute form, by path alone', 'http://evil.example/docs?a', '/docs/?a'],
    ['a query that would be another host', '/docs?//evil.example', '/docs/?//evil.example'],
  ])('redirects %s: %s → %s', async (_what, target, location) => {
    const response = await requestTwice(server.port, { target })
    expect([response.status, response.field('Location')]).toEqual([308, location])
    expect(response.field('Cache-Control')).toBe('no-cache')
    expect(response.field('Content-Length')).toBe('0')
  })

  test.each([
    ['a broken escape', '/%'],
    ['an escape cut short', '/about%2'],
    ['an encoded NUL', '/about%00'],
    ['an encoded line feed', '/about%0a'],
    ['octets that are no UTF-8', '/%ff%fe'],
  ])('answers %s with 400', async (_what, target) => {
    const response = await requestTwice(server.port, { target, fields: navigation })
    expect([response.status, response.field('Cache-Control')]).toEqual([400, 'no-store'])
  })

  test.each([
    ['a parent segment', '/docs/../about'],
    ['an encoded parent segment', '/docs/%2e%2e/about'],
    ['a parent beyond the root', '/../../../../etc/passwd'],
    ['an encoded parent beyond the root', '/%2e%2e/%2e%2e/etc/passwd'],
    ['a dot segment', '/./about'],
    ['two slashes', '//about'],
    ['two slashes inside', '/docs//guide'],
    ['a host after two slashes', '//evil.example/'],
    ['a backslash', '/docs\\guide'],
    ['two slashes and a folder', '//docs'],
  ])('answers %s with 404, even to a navigation', async (_what, target) => {
    const response = await requestTwice(server.port, { target, fields: navigation })
    expect([response.status, response.field('Cache-Control')]).toEqual([404, 'no-store'])
  })

  test.each([
    ['an encoded slash', '/docs%2Fguide'],
    ['an encoded backslash', '/docs%5Cguide'],
    ['a path decoded twice', '/%2561bout'],
    ['another case', '/About'],
    ['the manifest', '/.serve-dist/manifest.json'],
    ['the manifest in escapes', '/%2Eserve-dist/manifest%2Ejson'],
    ["the bundler's manifest", '/.vite/manifest.json'],
    ['a dotfile', '/.env'],
    ['a file in a dot folder', '/.secret/key'],
    ['a variant under its own suffix', '/assets/app-1a2b3c.js.br'],
    ['a variant of a page', '/index.html.gz'],
    ['a composed letter written decomposed', '/names/cafe%CC%81.txt'],
    ['a decomposed letter written composed', '/names/caf%C3%A9-decomposed.txt'],
    ['a missing asset', '/assets/app-old.js'],
    ['an unknown path', '/unknown'],
  ])('answers %s with 404 and no-store', async (_what, target) => {
    const response = await requestTwice(server.port, { target, fields: byFetch })
    expect([response.status, response.field('Cache-Control')]).toEqual([404, 'no-store'])
    // Outside the assets, a navigation would get the page.
    const isAsset = target.startsWith('/assets/')
    expect(response.field('Vary')).toBe(isAsset ? undefined : 'Accept, Sec-Fetch-Mode')
    expect(response.body.toString()).toBe('404 Not Found\n')
  })

  test.each([
    ['a navigation', '/users', navigation],
    ['a navigation to a name with dots', '/users/jane.doe', navigation],
    ['a navigation to what looks like a script', '/users/x.js', navigation],
    ['a navigation with an encoded slash', '/users/a%2Fb', navigation],
    ['a navigation to a dotfile', '/.env', navigation],
    ['Accept, from a client without Sec-Fetch fields', '/users', { Accept: 'text/html,*/*;q=0.8' }],
    ['a client that accepts any type', '/v1.2/users', { Accept: '*/*' }],
    ['a client without either field', '/users/', {}],
  ])('answers %s to an unknown path (%s) with the page', async (_what, target, fields) => {
    const response = await requestTwice(server.port, { target, fields })
    expect([response.status, response.field('Content-Type')]).toEqual([200, html])
    expect(response.field('Cache-Control')).toBe('no-cache')
    expect(response.body.toString()).toMatch(/^<!doctype html>/)
  })

  test.each([
    ['a missing asset, by a navigation', '/assets/app-old.js', navigation],
    ['a missing asset, by Accept', '/assets/app-old.js', { Accept: 'text/html' }],
    ['an unknown path, by a script', '/users', { 'Sec-Fetch-Mode': 'no-cors', Accept: 'text/html' }],
    ['an unknown path, by fetch()', '/api/users', { 'Sec-Fetch-Mode': 'cors', Accept: '*/*' }],
    ['an unknown file, by a client that accepts any type', '/users/jane.doe', { Accept: '*/*' }],
    ['an unknown file, by a client without either field', '/users/x.js', {}],
    ['an unknown path, by a client of data', '/users', { Accept: 'application/json' }],
    ['an unknown path, by one that refuses HTML', '/users', { Accept: 'text/html;q=0, */*' }],
  ])('never answers %s (%s) with the page', async (_what, target, fields) => {
    const response = await requestTwice(server.port, { target, fields })
    expect([response.status, response.field('Cache-Control')]).toEqual([404, 'no-store'])
  })
})

describe('an application of several pages', () => {
  let server: StartedServer
  beforeAll(async () => {
    const directory = await buildFixture(
      {
        'index.html': 'root',
        'about.html': 'about',
        '404.html': `not found${compressibleText(2000)}`,
        'assets/a.js': 'a',
      },
      { assetsDirectory: 'assets', base: '/app/' },
    )
    server = await startServer(directory)
  })

  test('has its base in its URL', () => {
    expect(server.url).toBe(`http://127.0.0.1:${server.port}/app/`)
  })

  test.each([
    ['/app/', 200],
    ['/app/about', 200],
    ['/app/assets/a.js', 200],
    ['/app', 308],
    ['/', 404],
    ['/about', 404],
    ['/assets/a.js', 404],
    ['/application/about', 404],
  ])('is served below its base: %s → %d', async (target, status) => {
    const response = await requestTwice(server.port, { target })
    expect(response.status).toBe(status)
  })

  test('redirects the base without its slash, and keeps the query', async () => {
    const response = await requestTwice(server.port, { target: '/app?a=b' })
    expect(response.field('Location')).toBe('/app/?a=b')
  })

  test.each([
    ['identity', undefined],
    ['br', 'br'],
  ])('answers a navigation to an unknown path with its 404 page in %s', async (coding, encoding) => {
    const response = await requestTwice(server.port, {
      target: '/app/unknown',
      fields: { ...navigation, 'Accept-Encoding': coding },
    })
    expect([response.status, response.field('Content-Type')]).toEqual([404, html])
    expect(response.field('Content-Encoding')).toBe(encoding)
    expect(response.field('Cache-Control')).toBe('no-store')
    expect(response.field('Vary')).toBe('Accept-Encoding, Accept, Sec-Fetch-Mode')
    expect(response.field('ETag')).toBeUndefined()
  })

  test.each([
    ['another request', '/app/unknown', byFetch],
    ['a navigation outside of the base', '/unknown', navigation],
    [
      'a navigation that accepts no coding of it',
      '/app/unknown',
      { ...navigation, 'Accept-Encoding': '*;q=0' },
    ],
  ])('answers %s with a plain 404', async (_what, target, fields) => {
    const response = await requestTwice(server.port, { target, fields })
    expect([response.status, response.field('Content-Type')]).toEqual([404, 'text/plain; charset=utf-8'])
  })

  test('serves the 404 page itself like any page', async () => {
    const response = await requestTwice(server.port, { target: '/app/404' })
    expect([response.status, response.field('Cache-Control')]).toEqual([200, 'no-cache'])
  })
})

describe('the other fallbacks', () => {
  test('a single-page application with a 404 page has no fallback', async () => {
    const directory = await buildFixture({ 'index.html': 'i', '404.html': 'gone' }, { appType: 'spa' })
    const { port } = await startServer(directory)
    const response = await requestTwice(port, { target: '/users', fields: navigation })
    expect([response.status, response.body.toString()]).toEqual([404, 'gone'])
  })

  test.each([
    ['custom', undefined, 404],
    ['mpa', undefined, 404],
    ['mpa', 'spa', 200],
    ['spa', 'none', 404],
    ['spa', '404', 404],
  ] as const)('of a build of type %s, fallback %s: %d', async (appType, fallback, status) => {
    const directory = await buildFixture({ 'index.html': 'i', 'a.html': 'a' }, { appType })
    const { port } = await startServer(directory, { handler: fallback === undefined ? {} : { fallback } })
    const response = await requestTwice(port, { target: '/users', fields: navigation })
    expect(response.status).toBe(status)
  })

  test.each([
    ['custom', ['404.html'], undefined, 404, '404.html'],
    ['custom', ['200.html'], undefined, 200, '200.html'],
    ['custom', ['200.html', '404.html'], undefined, 404, '404.html'],
    ['custom', ['200.html', '404.html'], 'spa', 200, '200.html'],
    ['mpa', ['200.html'], undefined, 200, '200.html'],
    ['spa', ['200.html'], undefined, 200, '200.html'],
    ['spa', ['200.html', '404.html'], undefined, 404, '404.html'],
    ['spa', ['200.html', '404.html'], 'none', 404, '404 Not Found\n'],
  ] as const)(
    'of a build of type %s with %j, fallback %s: %d with %j',
    async (appType, pages, fallback, status, body) => {
      const files = Object.fromEntries(['index.html', 'a.html', ...pages].map((path) => [path, path]))
      const directory = await buildFixture(files, { appType })
      const rules = fallback === undefined ? {} : { fallback }
      const { port } = await startServer(directory, { site: { rules } })
      const response = await requestTwice(port, { target: '/users', fields: navigation })
      expect([response.status, response.body.toString()]).toEqual([status, body])
      const script = await requestTwice(port, { target: '/users.js', fields: { Accept: '*/*' } })
      expect([script.status, script.body.toString()]).toEqual([404, '404 Not Found\n'])
    },
  )

  test.each<[string, readonly string[], 'spa' | undefined, readonly string[]]>([
    [
      'is configured',
      ['assets/app.js', 'about.html'],
      'spa',
      [
        'neither 200.html nor index.html. Add this rule to the file _redirects of the build: /* /page.html 200',
      ],
    ],
    [
      'is written by TanStack Start',
      ['_shell.html'],
      undefined,
      ['but it has _shell.html. Add this rule to the file _redirects of the build: /* /_shell.html 200'],
    ],
    ['is written by React Router', ['__spa-fallback.html'], 'spa', ['/* /__spa-fallback.html 200']],
    [
      'is written by React Router next to a prerendered page',
      ['index.html', '__spa-fallback.html'],
      undefined,
      ['no 200.html, but it has __spa-fallback.html'],
    ],
    ['has its usual name', ['index.html', '_shell.html'], 'spa', []],
    ['is overridden by a 404 page', ['404.html', '_shell.html'], undefined, []],
  ])(
    'warn if the page of a single-page application %s and no page answers',
    async (_what, paths, fallback, told) => {
      const warnings: string[] = []
      const directory = await buildFixture(Object.fromEntries(paths.map((path) => [path, path])))
      const rules = fallback === undefined ? {} : { fallback }
      await startServer(directory, { site: { rules, onWarning: (warning) => warnings.push(warning) } })
      expect(warnings).toEqual(told.map((text) => expect.stringContaining(text)))
    },
  )

  test('use the page that a rule names, without a warning', async () => {
    const directory = await buildFixture({ '_shell.html': 'shell', _redirects: '/* /_shell.html 200' })
    const warnings: string[] = []
    const rules = { fallback: 'spa' } as const
    const { port } = await startServer(directory, {
      site: { rules, onWarning: (warning) => warnings.push(warning) },
    })
    for (const target of ['/', '/users']) {
      const response = await requestTwice(port, { target, fields: navigation })
      expect([response.status, response.body.toString()]).toEqual([200, 'shell'])
    }
    expect(warnings).toEqual([])
  })
})

describe('a client route below the assets folder', () => {
  const files = { 'index.html': 'page', 'assets/app-1.js': 'script' }
  const options = { assetsDirectory: 'assets', appType: 'spa' } as const

  test.each([
    ['a rule for all paths', '/* /index.html 200', '/assets/42', 404],
    ['a rule for the folder', '/assets/* /index.html 200', '/assets/42', 200],
    ['a rule for one route', '/assets/:id/edit /index.html 200', '/assets/42/edit', 200],
    ['a rule for another route', '/assets/:id/edit /index.html 200', '/assets/42', 404],
  ])('answers a navigation by %s: %s', async (_what, rule, target, status) => {
    const { port } = await startServer(await buildFixture({ ...files, _redirects: rule }, options))
    expect((await requestTwice(port, { target, fields: navigation })).status).toBe(status)
    const script = await requestTwice(port, {
      target: '/assets/old.js',
      fields: { 'Sec-Fetch-Mode': 'no-cors' },
    })
    expect(script.status).toBe(404)
  })
})
