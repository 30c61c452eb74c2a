import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:http2'
import { join } from 'node:path'
import { manifestPath, parseManifest, stringifyManifest } from '@serve-dist/manifest'
import express from 'express'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createHandler } from '../../src/hosts/handler.ts'
import { openLiveSite } from '../../src/live/open-live-site.ts'
import { decide } from '../../src/site/decide.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { openConnection } from '../support/open-connection.ts'
import { rawExchange } from '../support/raw-exchange.ts'
import { formatRequest } from '../support/raw-request.ts'
import { requestTwice } from '../support/request-twice.ts'
import { createRequestFields } from '../support/create-request-fields.ts'
import { replaceBuildIn } from '../support/replace-build-in.ts'
import { startListener } from '../support/start-listener.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

const navigation = { 'Sec-Fetch-Mode': 'navigate' }

const files = {
  'index.html': `<!doctype html><title>spa</title>${compressibleText(2000)}`,
  'about.html': 'about',
  'assets/app.js': compressibleText(3000),
  'data/list.json': '[]',
  'docs/index.html': 'docs',
  'secret.txt': 'secret',
}

describe('rules of the operator', () => {
  let server: StartedServer
  beforeAll(async () => {
    server = await startServer(await buildFixture(files, { assetsDirectory: 'assets' }), {
      site: {
        rules: {
          immutable: ['assets/**'],
          cacheControl: { 'data/**': 'public, max-age=300' },
          headers: {
            '**': { 'Content-Security-Policy': "default-src 'self'", vary: 'Origin' },
            '*.html': { 'x-content-TYPE-options': null, 'Content-Language': 'en' },
          },
          redirects: [
            { from: '/old/*', to: '/new/:splat', status: 301 },
            { from: '/about', to: '/elsewhere' },
            { from: '/hash', to: '/#/new' },
            { from: '/loop', to: '/loop' },
            { from: '/data/list.json', to: 'https://data.example/list', status: 307, force: true },
            { from: '/app/*', to: '/index.html', status: 200 },
            { from: '/gone/*', to: '/about.html', status: 404 },
            { from: '/secret.txt', to: '/about.html', status: 404, force: true },
            { from: '/assets/app.js', to: '/index.html', status: 200, force: true },
          ],
          fallback: 'none',
        },
      },
    })
  })

  test('make names immutable', async () => {
    const response = await requestTwice(server.port, { target: '/assets/app.js' })
    expect(response.field('Cache-Control')).toBe('public, max-age=31536000, immutable')
  })

  test('replace a default in any letter case, and remove it with null', async () => {
    const response = await requestTwice(server.port, { target: '/about.html' })
    expect(response.field('X-Content-Type-Options')).toBeUndefined()
    expect(response.field('Content-Security-Policy')).toBe("default-src 'self'")
    expect(response.field('Content-Language')).toBe('en')
  })

  test('extend Vary, or add it', async () => {
    const script = await requestTwice(server.port, { target: '/assets/app.js' })
    expect(script.field('Vary')).toBe('Origin, Accept-Encoding')
    const page = await requestTwice(server.port, { target: '/about.html' })
    expect(page.field('vary')).toBe('Origin')
  })

  test('apply to a 304, except for fields that describe the body', async () => {
    const response = await requestTwice(server.port, {
      target: '/about.html',
      fields: { 'If-None-Match': '*' },
    })
    expect(response.status).toBe(304)
    expect(response.field('Content-Security-Policy')).toBe("default-src 'self'")
    expect(response.field('Content-Language')).toBeUndefined()
  })

  test.each([
    ['/old/a/b?q=1', 301, '/new/a/b?q=1'],
    ['/old', 301, '/new/'],
    ['/hash?a=1', 308, '/?a=1#/new'],
    ['/data/list.json', 307, 'https://data.example/list'],
  ])('redirect %s with %d to %s', async (target, status, location) => {
    const response = await requestTwice(server.port, { target })
    expect([response.status, response.field('Location')]).toEqual([status, location])
    expect(response.field('Cache-Control')).toBe('no-cache')
  })

  test('never redirect a path to itself', async () => {
    expect((await requestTwice(server.port, { target: '/loop' })).status).toBe(404)
  })

  test('redirect no file of the build without force', async () => {
    expect((await requestTwice(server.port, { target: '/about' })).status).toBe(200)
  })

  test.each([
    ['/old//evil.example', 404, undefined],
    ['/old/\\evil.example', 404, undefined],
    ['/old/%2Fevil.example', 301, '/new/%2Fevil.example'],
  ])('redirect %s to no other host: %d, %s', async (target, status, location) => {
    const response = await requestTwice(server.port, { target })
    expect([response.status, response.field('Location')]).toEqual([status, location])
  })

  test('rewrite only navigations to a page', async () => {
    const page = await requestTwice(server.port, { target: '/app/users', fields: navigation })
    expect([page.status, page.body.includes('<title>spa</title>')]).toEqual([200, true])
    expect((await requestTwice(server.port, { target: '/app/users.js' })).status).toBe(404)
  })

  test('answer with a page of their own for deleted paths', async () => {
    const response = await requestTwice(server.port, { target: '/gone/x', fields: navigation })
    expect([response.status, response.body.toString()]).toEqual([404, 'about'])
    expect(response.field('Cache-Control')).toBe('no-store')
  })

  test('hide a file by force behind the 404 page', async () => {
    const response = await requestTwice(server.port, { target: '/secret.txt' })
    expect([response.status, response.body.toString()]).toEqual([404, 'about'])
    expect((await requestTwice(server.port, { target: '/secret.txt', method: 'POST' })).status).toBe(404)
  })

  test('replace no script by a page, even by force', async () => {
    const response = await requestTwice(server.port, { target: '/assets/app.js', fields: navigation })
    expect(response.field('Content-Type')).toMatch(/^text\/javascript/)
  })

  test('never let caches keep the 404 page', async () => {
    const built = await buildFixture({ ...files, '404.html': 'lost' }, { appType: 'mpa' })
    const targeted = ['CDN-Cache-Control', 'Netlify-CDN-Cache-Control', 'Surrogate-Control']
    const headers = {
      '**': {
        Expires: 'Thu, 01 Jan 2099 00:00:00 GMT',
        ...Object.fromEntries(targeted.map((name) => [name, 'max-age=300'])),
        'X-A': '1',
      },
    }
    const rules = { cacheControl: { '**': 'public, max-age=300' }, headers }
    const { port } = await startServer(built, { site: { rules } })
    const missing = await requestTwice(port, { target: '/unknown', fields: navigation })
    expect([missing.status, missing.field('Cache-Control'), missing.field('Expires')]).toEqual([
      404,
      'no-store',
      undefined,
    ])
    expect(missing.field('X-A')).toBe('1')
    expect(targeted.map((name) => missing.field(name))).toEqual(targeted.map(() => undefined))
    const page = await requestTwice(port, { target: '/404' })
    expect(page.field('Cache-Control')).toBe('public, max-age=300')
    expect(page.field('CDN-Cache-Control')).toBe('max-age=300')
  })

  test.each([
    ['POST', '/old/a', 405],
    ['OPTIONS', '/old/a', 204],
    ['POST', '/gone/x', 404],
    ['OPTIONS', '/gone/x', 404],
    ['POST', '/app/x', 404],
    ['OPTIONS', '/app/x', 404],
  ])(
    'make a path known for other methods if they redirect it: %s %s is %d',
    async (method, target, status) => {
      const response = await requestTwice(server.port, { method, target })
      const allow = status === 404 ? undefined : 'GET, HEAD, OPTIONS'
      expect([response.status, response.field('Allow')]).toEqual([status, allow])
    },
  )

  test('disable the fallback', async () => {
    expect((await requestTwice(server.port, { target: '/users', fields: navigation })).status).toBe(404)
  })
})

describe('securityHeaders', () => {
  test('send the recommended fields, on pages also those for pages, and a rule overrides them', async () => {
    const server = await startServer(await buildFixture(files), {
      site: { rules: { securityHeaders: true, headers: { 'index.html': { 'X-Frame-Options': 'DENY' } } } },
    })
    const page = await requestTwice(server.port, {})
    expect(page.field('X-Frame-Options')).toBe('DENY')
    expect(page.field('Cross-Origin-Opener-Policy')).toBe('same-origin')
    expect(page.field('Permissions-Policy')).toBe(
      'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    )
    const script = await requestTwice(server.port, { target: '/assets/app.js' })
    expect(script.field('X-Frame-Options')).toBeUndefined()
    expect(script.field('Permissions-Policy')).toBeUndefined()
    expect(script.field('Referrer-Policy')).toBe('strict-origin-when-cross-origin')
    expect(script.field('Cross-Origin-Resource-Policy')).toBe('same-origin')
  })
})

describe('_headers and _redirects', () => {
  test('apply, are not served, and cause start warnings for unused rules', async () => {
    const warnings: string[] = []
    const directory = await buildFixture({
      ...files,
      _headers: '\uFEFF/about\n  X-About: 1\n/*\n  Basic-Auth: a:b\n/users/*\n  X-User: 1\n',
      _redirects: '/blog/:slug /about 302\n/api/* /about 301 Country=de\n/gone /nowhere.html 200\n',
    })
    const server = await startServer(directory, {
      site: { onWarning: (message) => warnings.push(message) },
    })
    expect((await requestTwice(server.port, { target: '/about.html' })).field('X-About')).toBe('1')
    expect((await requestTwice(server.port, { target: '/assets/app.js' })).field('X-About')).toBeUndefined()
    const redirect = await requestTwice(server.port, { target: '/blog/hello' })
    expect([redirect.status, redirect.field('Location')]).toEqual([302, '/about'])
    for (const target of ['/_headers', '/_redirects']) {
      expect((await requestTwice(server.port, { target })).status).toBe(404)
    }
    expect(warnings).toEqual([
      expect.stringMatching(/^_headers:4: Basic-Auth is not supported/),
      expect.stringMatching(/^_redirects:2: the condition Country=de/),
      'the rule of _headers for /users/* matches no file of the build',
      'the redirect of /gone is ignored: the build has no file /nowhere.html for status 200',
    ])
  })

  test('of `serve` are ignored, and the start mentions that once', async () => {
    const warnings: string[] = []
    const directory = await buildFixture({ ...files, 'serve.json': '{ "redirects": [] }' })
    const site = await openLiveSite(directory, { onWarning: (message) => warnings.push(message) })
    onTestFinished(() => site.close())
    await replaceBuildIn(directory, { ...files, 'serve.json': '{}' })
    expect((await site.reload()).status).toBe('swapped')
    expect(warnings).toEqual([
      expect.stringMatching(/^serve\.json is ignored. Write its rules into .*migrate\/serve$/),
    ])
  })

  test('accept names of Object.prototype, and treat several values of a path as one', async () => {
    const server = await startServer(
      await buildFixture({
        ...files,
        _headers: '/about\n  constructor: a\n  toString: b\n  __proto__: c\n',
        _redirects: '/find/:what /search?q=:what 302\n/old/* /new/:splat 302\n',
      }),
    )
    const { field } = await requestTwice(server.port, { target: '/about.html' })
    expect(['constructor', 'toString', '__proto__'].map((name) => field(name))).toEqual(['a', 'b', 'c'])
    const places = await Promise.all(
      ['/find/x%26admin%3D1', '/find/x%23y?z', '/old/a/b%3Fc%23d'].map(async (target) =>
        (await requestTwice(server.port, { target })).field('Location'),
      ),
    )
    expect(places).toEqual(['/search?q=x%26admin%3D1', '/search?q=x%23y', '/new/a/b%3Fc%23d'])
  })

  test('warn once for each kind of 100,000 unused rules, and test few rules for an unknown path', async () => {
    const warnings: string[] = []
    const lines = Array.from({ length: 100_000 }, (_line, index) => index)
    const directory = await buildFixture({
      ...files,
      _headers: lines.map((index) => `/none/${index}\n  X-A: ${index}\n`).join(''),
      _redirects: lines
        .map(
          (index) => `/gone/${index} /nowhere-${index}.html 200\n/left/${index}/* /right/${index}/:splat\n`,
        )
        .join(''),
    })
    const before = process.cpuUsage()
    const site = await loadSite(directory, { onWarning: (message) => warnings.push(message) })
    const { user } = process.cpuUsage(before)
    expect(user / 1e6).toBeLessThan(10)
    expect(warnings).toEqual([
      'the rules of _headers for /none/0, /none/1, /none/2 and 99,997 more match no file of the build',
      expect.stringMatching(
        /^the redirect of \/gone\/0 is ignored: .*\n {2}99,997 more problems like these$/s,
      ),
    ])
    const port = await startListener(createHandler(site))
    const found = await requestTwice(port, { target: '/left/99999/x' })
    expect([found.status, found.field('Location')]).toEqual([301, '/right/99999/x'])
    let reads = 0
    const redirects = new Proxy(site.redirects, {
      get(patterns, key) {
        reads += 1
        return Reflect.get(patterns, key)
      },
    })
    const ask = (target: string): unknown =>
      decide({ ...site, redirects }, createRequestFields({ target }), 'none')
    // The first request builds the index of rules.
    ask('/left/x/y')
    reads = 0
    ask('/left/x0/y')
    expect(reads).toBeLessThan(10)
  })

  test("do not override files: `/* /index.html 200` keeps the build's files and redirects", async () => {
    const server = await startServer(await buildFixture({ ...files, _redirects: '/* /index.html 200\n' }))
    const answers = await Promise.all(
      ['/docs', '/about/', '/about', '/users/1'].map(async (target) => {
        const { status, field } = await requestTwice(server.port, { target, fields: navigation })
        return [target, status, field('Location')]
      }),
    )
    expect(answers).toEqual([
      ['/docs', 308, '/docs/'],
      ['/about/', 308, '/about'],
      ['/about', 200, undefined],
      ['/users/1', 200, undefined],
    ])
  })

  test('apply to all paths of a file, also escaped ones, and the last rule of a field wins', async () => {
    const warnings: string[] = []
    const directory = await buildFixture({
      ...files,
      'hello world.txt': 'hello',
      _headers:
        '/*\n  X-A: all\n/hello%20world.txt\n  X-A: one\n  X-B: 1\n  X-B: 2\n/about\n  ! X-Content-Type-Options\n',
    })
    const server = await startServer(directory, { site: { onWarning: (message) => warnings.push(message) } })
    const text = await requestTwice(server.port, { target: '/hello%20world.txt' })
    expect([text.field('X-A'), text.field('X-B')]).toEqual(['one', '1, 2'])
    const page = await requestTwice(server.port, { target: '/about.html' })
    expect([page.field('X-A'), page.field('X-Content-Type-Options')]).toEqual(['all', undefined])
    expect(warnings).toEqual([])
  })

  test('remove no field that a message requires', async () => {
    const warnings: string[] = []
    const directory = await buildFixture({
      ...files,
      _headers: '/assets/*\n  ! Content-Encoding\n  ! Content-Length\n  ! ETag\n',
    })
    const server = await startServer(directory, { site: { onWarning: (message) => warnings.push(message) } })
    const encoded = await requestTwice(server.port, {
      target: '/assets/app.js',
      fields: { 'Accept-Encoding': 'br' },
    })
    expect(encoded.field('Content-Encoding')).toBe('br')
    expect(encoded.field('ETag')).toMatch(/^"/)
    const part = await requestTwice(server.port, { target: '/assets/app.js', fields: { Range: 'bytes=0-9' } })
    expect([part.status, part.field('Content-Length')]).toEqual([206, '10'])
    expect(warnings).toHaveLength(3)
  })

  test('are overridden by rules of the operator', async () => {
    const directory = await buildFixture({ ...files, _headers: '/*\n  X-A: file\n' })
    const server = await startServer(directory, { site: { rules: { headers: { '**': { 'x-a': 'rule' } } } } })
    expect((await requestTwice(server.port, {})).field('X-A')).toBe('rule')
  })
})

async function withLinks(): Promise<string> {
  const directory = await buildFixture(files)
  const file = join(directory, manifestPath)
  const manifest = parseManifest(await readFile(file, 'utf8'))
  const links = [
    { path: 'assets/app.js', rel: 'modulepreload', inDocument: true },
    { path: 'data/list.json', rel: 'preload', as: 'font', inDocument: false },
  ] as const
  const described = manifest.files.map((item) => (item.path === 'index.html' ? { ...item, links } : item))
  await writeFile(file, stringifyManifest({ ...manifest, files: described }))
  return directory
}

describe('links of a page', () => {
  const missing = '</data/list.json>; rel=preload; as=font; crossorigin'

  test('are sent with the 200 if the document lacks them, but in no 103', async () => {
    const server = await startServer(await withLinks())
    const response = await requestTwice(server.port, {})
    expect([response.status, response.field('Link')]).toEqual([200, missing])
    const script = await requestTwice(server.port, { target: '/assets/app.js' })
    expect(script.field('Link')).toBeUndefined()
  })

  test('are all sent in a 103 to HTTP/1.1 clients if the operator enables it', async () => {
    const server = await startServer(await withLinks(), { site: { rules: { earlyHints: true } } })
    const hint = await rawExchange(server.port, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    expect(hint).toMatch(
      /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/assets\/app\.js>; rel=modulepreload; crossorigin, /,
    )
    expect(hint).toContain('HTTP/1.1 200 OK\r\n')
    const old = await rawExchange(server.port, 'GET / HTTP/1.0\r\nHost: a\r\n\r\n')
    expect(old).toMatch(/^HTTP\/1\.1 200 OK/)
    const head = await rawExchange(server.port, 'HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    expect(head).toMatch(/^HTTP\/1\.1 200 OK/)
  })

  test('are all sent in a 103 over HTTP/2 by default, but only for GET', async () => {
    const server = await startServer(await withLinks(), { tls: await writeCertificate() })
    const session = connect(`https://127.0.0.1:${server.port}`, { rejectUnauthorized: false })
    const heads = async (method: string): Promise<unknown[]> => {
      const stream = session.request({ ':method': method })
      const interim: unknown[] = []
      stream.on('headers', ({ ':status': status, link }) => interim.push([status, link]))
      const [fields] = await once(stream, 'response')
      stream.close()
      return [...interim, fields[':status']]
    }
    const links = expect.stringMatching(/^<\/assets\/app\.js>; rel=modulepreload; crossorigin, /)
    // The server learns from the first responses.
    for (let time = 0; time < 3; time += 1) {
      expect(await heads('GET')).toEqual([[103, links], 200])
      expect(await heads('HEAD')).toEqual([200])
    }
    session.destroy()
  })

  test('are relative to the path where Express mounts the handler', async () => {
    const site = await loadSite(await withLinks(), { rules: { earlyHints: true } })
    const port = await startListener(express().use('/sub', createHandler(site)))
    const hint = await rawExchange(port, 'GET /sub/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    expect(hint).toMatch(
      /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/sub\/assets\/app\.js>; rel=modulepreload; crossorigin, /,
    )
    expect(hint).toContain('\r\nLink: </sub/data/list.json>; rel=preload; as=font; crossorigin\r\n')
  })

  test('are not sent in a 103 behind a response in progress, which they would corrupt', async () => {
    const server = await startServer(await withLinks(), { site: { rules: { earlyHints: true } } })
    for (const first of [{}, { target: '/assets/app.js' }]) {
      const connection = await openConnection(server.port)
      connection.send(formatRequest(first) + formatRequest({}).repeat(2))
      const statuses = []
      for (let left = 3; left > 0;) {
        const { status, field, body } = await connection.receive()
        statuses.push(status)
        if (status === 103) continue
        expect(body).toHaveLength(Number(field('Content-Length')))
        left -= 1
      }
      expect(statuses.filter((status) => status !== 103)).toEqual([200, 200, 200])
      connection.socket.end()
      expect(await connection.rest()).toHaveLength(0)
    }
  })
})
