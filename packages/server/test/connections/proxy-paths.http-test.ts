import { join } from 'node:path'
import type { ServingRules } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { http2Request } from '../support/http2-request.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { rawRequest } from '../support/raw-request.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'
import { startTarget, type Target } from '../support/start-target.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const files = {
  'index.html': 'the page',
  'api/data.json': '{"of":"the build"}',
  'apidocs.txt': 'docs',
  'assets/app-12345678.js': 'app',
}

async function start(rulesFor: (target: Target) => ServingRules['redirects'], more = {}) {
  const target = await startTarget()
  const warnings: string[] = []
  const directory = await buildFixture(files, { assetsDirectory: 'assets', appType: 'spa' })
  const server = await startServer(directory, {
    site: { rules: { redirects: rulesFor(target) ?? [] }, onWarning: (text) => warnings.push(text) },
    ...more,
  })
  return { target, server, warnings }
}

/** Returns the request target that arrived, or the status of the answer if none did. */
async function arrival(
  { target, server }: { target: Target; server: StartedServer },
  path: string,
  method = 'GET',
) {
  const before = target.requests.length
  const { status } = await rawRequest(server.port, { target: path, method })
  return target.requests.length > before ? target.requests[before]?.line.split(' ')[1] : status
}

describe('a rule with `force`', async () => {
  const started = await start(({ url }) => [
    { from: '/api/*', to: `${url}/api/:splat`, status: 200, force: true },
  ])

  test.each([
    ['/api', '/api'],
    ['/api?a=b', '/api?a=b'],
    ['/api/', '/api/'],
    ['/api/users', '/api/users'],
    ['/%61pi/users', '/%61pi/users'],
    ['/api/a%2Fb%20c+d//e', '/api/a%2Fb%20c+d//e'],
    ['/api/x?', '/api/x?'],
    ['/api/x?q=/../%zz&a?b', '/api/x?q=/../%zz&a?b'],
    ['/api//evil.example', '/api//evil.example'],
    ['/api/...', '/api/...'],
    ['/api/.well-known/a', '/api/.well-known/a'],
    ['http://example.org/api/x?y', '/api/x?y'],
  ])('forwards %s', async (path, arrived) => {
    expect(await arrival(started, path)).toBe(arrived)
  })

  test.each([
    '/api/..',
    '/api/../secret',
    '/api/./x',
    '/api/%2e%2e/secret',
    '/api/%2E./secret',
    '/api/..%2fsecret',
    '/api/a/..%5Csecret',
    '/api/..\\secret',
    '/api/..;/secret',
    '/api/..;a=b/secret',
    '/api/.;/x',
    '/api/%00',
    '/api/%zz',
  ])('answers 400 to %s', async (path) => {
    expect(await arrival(started, path)).toBe(400)
  })

  test.each([
    ['/apidocs', 200],
    ['/apidocs.txt', 200],
    ['/API/x', 200],
    ['/x/../api/y', 404],
    ['//api/x', 404],
    ['/x%2Fapi', 200],
  ])('does not forward %s', async (path, status) => {
    expect(await arrival(started, path)).toBe(status)
  })

  test('precedes files, also after the server has sent them', async () => {
    for (let count = 0; count < 3; count += 1) {
      expect(await arrival(started, '/api/data.json')).toBe('/api/data.json')
      expect(await arrival(started, '/apidocs.txt')).toBe(200)
    }
    expect(started.warnings).toEqual(['the rule /api/* also proxies paths of the build: /api/data.json'])
  })

  test.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD', 'PROPFIND'])(
    'forwards %s',
    async (method) => {
      const before = started.target.requests.length
      expect(await arrival(started, '/api/x', method)).toBe('/api/x')
      expect(started.target.requests[before]?.line).toBe(`${method} /api/x HTTP/1.1`)
    },
  )

  test('answers 405 to TRACE', async () => {
    const before = started.target.requests.length
    const { status, field } = await rawRequest(started.server.port, { target: '/api/x', method: 'TRACE' })
    expect([status, field('Allow')]).toEqual([405, 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS'])
    expect(started.target.requests).toHaveLength(before)
  })
})

test.each([
  ['/v1/:splat', '/api', '/v1'],
  ['/v1/:splat', '/api/', '/v1/'],
  ['/v1/:splat', '/api/a%2Fb//c?d', '/v1/a%2Fb//c?d'],
  ['/:splat', '/api', '/'],
  ['/:splat', '/api?a', '/?a'],
  ['/:splat', '/%61pi/%61', '/%61'],
  ['', '/%61pi/%61', '/%61pi/%61'],
  ['/', '/api/x', '/'],
  ['/one', '/api/x?y', '/one?y'],
])('replaces the prefix by %s: %s becomes %s', async (to, path, arrived) => {
  const started = await start(({ url }) => [{ from: '/api/*', to: url + to, status: 200, force: true }])
  expect(await arrival(started, path)).toBe(arrived)
})

test('replaces named variables', async () => {
  const started = await start(({ url }) => [
    { from: '/users/:id/*', to: `${url}/u/:splat/of/:id`, status: 200 },
    { from: '/graphql', to: `${url}/graphql`, status: 200 },
  ])
  expect(await arrival(started, '/users/a%2fb/c?d')).toBe('/u/c/of/a%2Fb?d')
  expect(await arrival(started, '/%67raphql?q', 'POST')).toBe('/%67raphql?q')
})

describe('a rule without `force`', async () => {
  const started = await start(({ url }) => [
    { from: '/api/data', to: '/elsewhere' },
    { from: '/*', to: `${url}/:splat`, status: 200 },
  ])

  test.each([
    ['/', 200],
    ['/api/data.json', 200],
    ['/api/data', 308],
    ['/settings', '/settings'],
    ['/a//b', '/a//b'],
    ['/a/../b', 400],
    ['/assets/gone-12345678.js', 404],
    ['/assets/../x', 404],
  ])('answers %s with %s', async (path, expected) => {
    expect(await arrival(started, path)).toBe(expected)
  })

  test('precedes the application', async () => {
    const entry = join(
      await writeFixture({ 'entry.mjs': 'export default (_request, response) => response.end("app")' }),
      'entry.mjs',
    )
    const beside = await start(({ url }) => [{ from: '/api/*', to: url, status: 200 }], { ssr: entry })
    expect(await arrival(beside, '/api/data.json')).toBe(200)
    expect(await arrival(beside, '/api/x', 'POST')).toBe('/api/x')
    expect(await arrival(beside, '/api/x', 'TRACE')).toBe(405)
    expect((await rawRequest(beside.server.port, { target: '/other' })).body.toString()).toBe('app')
  })
})

test('warns about rules that can never match', async () => {
  const { warnings } = await start(({ url }) => [
    { from: '/api/*', to: url, status: 200, force: true },
    { from: '/api/v2/*', to: url, status: 200, force: true },
    { from: '/api', to: '/x' },
    { from: '/apidocs', to: '/x' },
  ])
  expect(warnings.filter((text) => text.includes('never matches'))).toEqual([
    'the rule /api/v2/* never matches: the rule /api/* before it matches all of its paths',
    'the rule /api never matches: the rule /api/* before it matches all of its paths',
  ])
})

test('refuses hosts that the server does not serve', async () => {
  const started = await start(({ url }) => [{ from: '/api/*', to: url, status: 200, force: true }], {
    allowHosts: ['other.example'],
  })
  expect(await arrival(started, '/api/x')).toBe(421)
})

test('a maintenance precedes rules that proxy', async () => {
  const started = await start(({ url }) => [
    { from: '/api/*', to: url, status: 200, force: true },
    { from: '/*', to: '/index.html', status: 503, force: true },
  ])
  expect(await arrival(started, '/api/x', 'POST')).toBe(503)
  expect(await arrival(started, '/api/../x')).toBe(503)
})

test('credentials are needed for proxied paths', async () => {
  const target = await startTarget()
  const rules = {
    basicAuth: { env: 'SITE_PASSWORD' },
    redirects: [{ from: '/api/*', to: target.url, status: 200, force: true }],
  } as const
  const environment = { SITE_PASSWORD: 'name:password' }
  const server = await startServer(await buildFixture(files), { site: { rules, environment } })
  expect(await arrival({ target, server }, '/api/x')).toBe(401)
  const fields = { Authorization: `Basic ${btoa('name:password')}` }
  expect((await rawRequest(server.port, { target: '/api/x', fields })).status).toBe(200)
  expect(target.requests).toHaveLength(1)
})

test('reads `_redirects` of the build in the format of Netlify', async () => {
  const target = await startTarget()
  const directory = await buildFixture({ ...files, _redirects: `/api/* ${target.url}/:splat 200!` })
  const server = await startServer(directory)
  expect(await arrival({ target, server }, '/api/data.json?x')).toBe('/data.json?x')
})

test('forwards to a unix socket', async () => {
  const path = join(await temporaryDirectory(), 'api.sock')
  const target = await startTarget(undefined, { path })
  const server = await startServer(await buildFixture(files), {
    site: {
      rules: {
        redirects: [
          { from: '/api/*', to: `unix:${path}`, status: 200 },
          { from: '/v/*', to: `unix:${path}:/v1/:splat`, status: 200 },
        ],
      },
    },
  })
  expect(await arrival({ target, server }, '/api/x')).toBe('/api/x')
  expect(await arrival({ target, server }, '/v/x')).toBe('/v1/x')
})

test('reads addresses and fields from the environment', async () => {
  const target = await startTarget()
  const rules = {
    redirects: [
      {
        from: '/api/*',
        to: { env: 'API', path: '/api/:splat' },
        status: 200,
        request: { 'X-Token': { env: 'TOKEN' } },
      },
    ],
  } as const
  const directory = await buildFixture(files)
  const environment = { API: `${target.url}/v1/`, TOKEN: 'secret' }
  const server = await startServer(directory, { site: { rules, environment } })
  expect(await arrival({ target, server }, '/api/x')).toBe('/v1/api/x')
  expect(target.requests.at(-1)?.values('X-Token')).toEqual(['secret'])
  for (const [values, problem] of [
    [{ TOKEN: 'secret' }, 'API: the address of the rule /api/*: it is not set'],
    [{ API: 'backend:3000', TOKEN: 'secret' }, 'API: the address of the rule /api/*: expected an address'],
    [
      { API: target.url, TOKEN: 'se\ncret' },
      'TOKEN: the field X-Token of the rule /api/*: it has characters',
    ],
  ] as const) {
    await expect(startServer(directory, { site: { rules, environment: values } })).rejects.toThrow(problem)
  }
})

test('warns about a path that all requests get', async () => {
  const { warnings } = await start(({ url }) => [
    { from: '/one/*', to: `${url}/`, status: 200 },
    { from: '/two/*', to: `${url}/v1`, status: 200 },
    { from: '/three', to: `${url}/`, status: 200 },
    { from: '/four/*', to: url, status: 200 },
    { from: '/five/*', to: `${url}/:splat`, status: 200 },
  ])
  const advice = 'Append :splat to use the rest of the path, or remove the path to keep that of the request.'
  expect(warnings).toEqual([
    `the rule /one/* forwards all requests to the path /. ${advice}`,
    `the rule /two/* forwards all requests to the path /v1. ${advice}`,
  ])
})

test.each([
  ['/raw/a#/../b', '/raw/a'],
  ['/raw/a?b#c', '/raw/a?b'],
])('does not forward the fragment of %s over HTTP/2', async (path, rest) => {
  const { target, server } = await start(
    ({ url }) => [{ from: '/raw/*', to: url, status: 200, force: true }],
    {
      tls: await writeCertificate(),
    },
  )
  const { status } = await http2Request(server.port, { target: path })
  // The HTTP/2 library of the native engine removes the fragment, so only Node can reject it.
  const forwarded = target.requests.map(({ line }) => line.split(' ')[1])
  expect([
    [400, []],
    [200, [rest]],
  ]).toContainEqual([status, forwarded])
})
