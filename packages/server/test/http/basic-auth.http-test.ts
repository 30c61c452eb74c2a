import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:http2'
import { join } from 'node:path'
import { hashSync } from 'bcryptjs'
import type { ServingRules } from '@serve-dist/manifest'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { loadSite } from '../../src/load/load-site.ts'
import { openLiveSite } from '../../src/live/open-live-site.ts'
import { buildFixture } from '../support/build-fixture.ts'
import { writeCertificate } from '../support/make-certificate.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startTarget } from '../support/start-target.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'
import { waitForEngine } from '../support/native/wait-for-engine.ts'

const files = {
  'index.html': 'page',
  'assets/app-1a2b.js': 'script',
  '.well-known/security.txt': 'contact',
  'open/logo-1a2b.svg': '<svg/>',
}
const basicAuth = { env: 'SITE_PASSWORD', except: ['/.well-known/**', 'open/*'] }
const isHashed = (path: string): boolean => path.includes('-1a2b')

function basic(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`
}

let directory: string
beforeAll(async () => {
  directory = await buildFixture(files, { isHashed, appType: 'spa', assetsDirectory: 'assets' })
})

async function startProtected(password: string, more: ServingRules = {}): Promise<StartedServer> {
  const rules = { basicAuth, ...more }
  return await startServer(directory, { site: { rules, environment: { SITE_PASSWORD: password } } })
}

async function statusOf(
  server: { readonly port: number },
  Authorization?: string,
  target = '/',
): Promise<number> {
  const fields = { Accept: 'text/html', ...(Authorization !== undefined && { Authorization }) }
  return (await rawRequest(server.port, { target, fields })).status
}

describe('basicAuth', () => {
  let server: StartedServer
  beforeAll(async () => {
    server = await startProtected(`anna:pässwort:1\nbob:${hashSync('höhle', 4)}`)
  })

  test('answers 401 with a realm, which caches must not keep', async () => {
    const answer = await rawRequest(server.port)
    expect([answer.status, answer.body.toString()]).toEqual([401, '401 Unauthorized\n'])
    expect(answer.field('WWW-Authenticate')).toBe('Basic realm="Restricted", charset="UTF-8"')
    expect(answer.field('Cache-Control')).toBe('no-store')
    const post = await rawRequest(server.port, { method: 'POST', target: '/unknown' })
    expect(post.status).toBe(401)
  })

  test.each([
    ['a password', basic('anna:pässwort:1')],
    ['a bcrypt hash', basic('bob:höhle')],
    ['a scheme in another case', basic('anna:pässwort:1').replace('Basic', 'bAsIc')],
  ])('accepts %s, also repeatedly', async (_what, value) => {
    for (let request = 0; request < 3; request += 1) expect(await statusOf(server, value)).toBe(200)
    await waitForEngine(server.port, { fields: { Authorization: value } })
  })

  test.each([
    ['another password', basic('anna:passwort:1')],
    ['another password of a hash', basic('bob:hohle')],
    ['an unknown name', basic('carl:pässwort:1')],
    ['an unknown name with the password of another', basic('carl:höhle')],
    ['a password without a name', basic('pässwort:1')],
    ['an empty password', basic('anna:')],
    ['a control character', basic('bob:höhle\u0000')],
    ['another scheme', basic('anna:pässwort:1').replace('Basic', 'Bearer')],
    ['characters after the value', `${basic('anna:pässwort:1')} x`],
    ['an empty value', ''],
  ])('rejects %s, also repeatedly and after an accepted request', async (_what, value) => {
    expect(await statusOf(server, basic('anna:pässwort:1'))).toBe(200)
    for (let request = 0; request < 2; request += 1) expect(await statusOf(server, value)).toBe(401)
  })

  test('rejects two values', async () => {
    const line = `Authorization: ${basic('anna:pässwort:1')}\r\n`
    const connection = await openConnection(server.port)
    connection.send(`GET / HTTP/1.1\r\nHost: a\r\n${line}${line}Connection: close\r\n\r\n`)
    expect((await connection.receive()).status).toBe(401)
  })

  test('asks again for each path and on each connection', async () => {
    const fields = { Authorization: basic('bob:höhle') }
    const connection = await openConnection(server.port)
    const requests = [
      { fields },
      {},
      { fields, target: '/assets/app-1a2b.js' },
      { target: '/assets/app-1a2b.js' },
    ]
    for (let round = 0; round < 3; round += 1) {
      connection.send(requests.map((request) => formatRequest(request)).join(''))
      for (const status of [200, 401, 200, 401]) expect((await connection.receive()).status).toBe(status)
    }
    connection.socket.destroy()
    await once(connection.socket, 'close')
  })

  test('makes what shared caches could keep private', async () => {
    const cacheControl = {
      'index.html': 'public, s-maxage=60, max-age=5',
      '.well-known/*': 'public, max-age=9',
    }
    const other = await startProtected('anna:a', {
      cacheControl,
      headers: { 'index.html': { 'CDN-Cache-Control': 'max-age=60, must-revalidate' } },
    })
    const answerTo = async (target: string) =>
      await rawRequest(other.port, { target, fields: { Authorization: basic('anna:a') } })
    expect((await answerTo('/assets/app-1a2b.js')).field('Cache-Control')).toBe(
      'private, max-age=31536000, immutable',
    )
    const page = await answerTo('/')
    expect(page.field('Cache-Control')).toBe('private, max-age=5')
    expect(page.field('CDN-Cache-Control')).toBe('private, max-age=60, must-revalidate')
    expect((await answerTo('/open/logo-1a2b.svg')).field('Cache-Control')).toContain('public')
    expect((await answerTo('/.well-known/security.txt')).field('Cache-Control')).toBe('public, max-age=9')
  })

  test.each([
    ['/.well-known/security.txt', 200],
    ['/open/logo-1a2b.svg', 200],
    ['/.well-known/missing', 404],
    ['/.well-known/..%2findex.html', 401],
    ['/.well-known/../index.html', 401],
    ['/.well-known/..;/index.html', 401],
    ['/.well-known', 404],
    ['/xopen/a', 401],
  ])('applies its exceptions to %s: a navigation gets %d', async (target, status) => {
    expect(await statusOf(server, undefined, target)).toBe(status)
  })

  test('distinguishes the paths of one page', async () => {
    const folder = await buildFixture({ 'index.html': 'page', 'about.html': 'about', 'more.html': 'more' })
    const site = {
      rules: { basicAuth: { env: 'SITE_PASSWORD', except: ['about', 'more.html', '/'] } },
      environment: { SITE_PASSWORD: 'anna:a' },
    }
    const other = await startServer(folder, { site })
    const expected = { '/about': 200, '/about.html': 401, '/more': 401, '/more.html': 200, '/': 200 }
    for (let round = 0; round < 3; round += 1) {
      for (const [target, status] of Object.entries(expected)) {
        expect(await statusOf(other, undefined, target)).toBe(status)
        expect(await statusOf(other, basic('anna:a'), target)).toBe(200)
      }
    }
  })

  test('applies an exception of all paths but some', async () => {
    const folder = await buildFixture({ 'index.html': 'page', 'inner/a.txt': 'a', 'outer/b.txt': 'b' })
    const site = {
      rules: { basicAuth: { env: 'SITE_PASSWORD', except: ['!/inner/**'] } },
      environment: { SITE_PASSWORD: 'anna:a' },
    }
    const other = await startServer(folder, { site })
    const expected = { '/inner/a.txt': 401, '/inner//a.txt': 401, '/outer/b.txt': 200, '/': 200 }
    for (const [target, status] of Object.entries(expected)) {
      expect(await statusOf(other, undefined, target)).toBe(status)
    }
  })

  test('sends no page of the build for an excepted path', async () => {
    const pages = { 'index.html': 'secret', '404.html': 'secret 404', 'shell.html': 'secret shell' }
    const redirects = [{ from: '/.well-known/rule', to: '/shell.html', status: 200 as const }]
    const ssr = join(directory, '../passing-entry.mjs')
    await writeFile(ssr, 'export default (request, response, next) => next()')
    for (const fallback of ['spa', '404'] as const) {
      for (const application of [{}, { ssr }]) {
        const site = { rules: { basicAuth, redirects }, environment: { SITE_PASSWORD: 'anna:a' } }
        const other = await startServer(await buildFixture(pages), {
          ...application,
          site,
          handler: { fallback },
        })
        for (const target of ['/.well-known/missing', '/.well-known/rule']) {
          const answer = await rawRequest(other.port, { target, fields: { Accept: 'text/html' } })
          expect([answer.status, answer.body.toString()]).toEqual([404, '404 Not Found\n'])
          const fields = { Accept: 'text/html', Authorization: basic('anna:a') }
          expect((await rawRequest(other.port, { target: '/missing', fields })).body.toString()).toContain(
            'secret',
          )
        }
      }
    }
  })

  test('protects rules that proxy, except those of an exception', async () => {
    const target = await startTarget()
    const redirects = ['/api/*', '/open/*'].map((from) => ({ from, to: target.url, status: 200 as const }))
    const other = await startServer(await buildFixture({ 'index.html': 'page' }), {
      site: { rules: { basicAuth, redirects }, environment: { SITE_PASSWORD: 'anna:a' } },
    })
    for (const path of ['/api/users', '/api//users', '/open/..%2fapi', '/open/a/b']) {
      expect(await statusOf(other, undefined, path)).toBe(401)
    }
    expect(target.requests).toEqual([])
    expect(await statusOf(other, basic('anna:a'), '/api/users')).toBe(200)
    expect(await statusOf(other, undefined, '/open/users')).toBe(200)
    expect(target.requests).toHaveLength(2)
  })

  test('finds files of excepted paths that appear after the start', async () => {
    const folder = await buildFixture({ 'index.html': 'secret' }, { appType: 'spa' })
    const site = { rules: { basicAuth }, environment: { SITE_PASSWORD: 'anna:a' } }
    const other = await startServer(folder, { site, handler: { fileSystemFallback: true } })
    await mkdir(join(folder, '.well-known/acme-challenge'), { recursive: true })
    await writeFile(join(folder, '.well-known/acme-challenge/token'), 'proof')
    const target = '/.well-known/acme-challenge/token'
    expect((await rawRequest(other.port, { target })).body.toString()).toBe('proof')
  })

  test('protects over HTTP/2', async () => {
    const certificate = await writeCertificate()
    const tls = await startServer(directory, {
      tls: { cert: certificate.cert, key: certificate.key },
      site: { rules: { basicAuth }, environment: { SITE_PASSWORD: 'anna:a' } },
    })
    const session = connect(`https://127.0.0.1:${tls.port}`, { rejectUnauthorized: false })
    const statusOver2 = async (fields: object): Promise<unknown> => {
      const [head]: unknown[] = await once(session.request({ ':path': '/', ...fields }), 'response')
      return Object(head)[':status']
    }
    for (let round = 0; round < 3; round += 1) {
      expect(await statusOver2({ authorization: basic('anna:a') })).toBe(200)
      expect(await statusOver2({})).toBe(401)
    }
    session.destroy()
  })
})

describe('the comparison with hashes', () => {
  test('computes one hash for equal values that arrive together', async () => {
    const server = await startProtected(`bob:${hashSync('b', 4)}`)
    const value = basic('bob:b')
    const statuses = await Promise.all(Array.from({ length: 100 }, async () => await statusOf(server, value)))
    expect(new Set(statuses)).toEqual(new Set([200]))
  })

  test('answers 503 if more than 66 different values wait, and continues to answer afterwards', async () => {
    // With this cost, one comparison takes longer than the arrival of all requests on one connection.
    const server = await startProtected(`bob:${hashSync('b', 10)}`)
    const clients = await Promise.all(
      Array.from({ length: 80 }, async (_, number) => {
        const client = await openConnection(server.port)
        client.send(formatRequest({ fields: { Authorization: basic(`bob:${number}`) } }))
        return client
      }),
    )
    const refused = await Promise.race(
      clients.map(async (client) => {
        const answer = await client.receive()
        return answer.status === 503 ? answer : await new Promise<typeof answer>(() => {})
      }),
    )
    expect([refused.field('Retry-After'), refused.field('Cache-Control')]).toEqual(['5', 'no-store'])
    // The comparisons of clients that have reset their connections are skipped.
    for (const { socket } of clients) socket.resetAndDestroy()
    await vi.waitFor(async () => expect(await statusOf(server, basic('bob:b'))).toBe(200), {
      timeout: 60_000,
    })
  })
})

describe('a reload', () => {
  test('forgets accepted values, and refuses a build without the variable', async () => {
    const folder = await buildFixture({ 'index.html': 'page' })
    const envFile = join(folder, '../site.env')
    await writeFile(envFile, 'SITE_PASSWORD=anna:first\n')
    const server = await startServer(folder, { site: { rules: { basicAuth }, environment: {}, envFile } })
    expect(await statusOf(server, basic('anna:first'))).toBe(200)
    await waitForEngine(server.port, { fields: { Authorization: basic('anna:first') } })
    await writeFile(envFile, 'SITE_PASSWORD=anna:second\n')
    expect(await server.reload()).toMatchObject({ status: 'swapped' })
    expect(await statusOf(server, basic('anna:first'))).toBe(401)
    expect(await statusOf(server, basic('anna:second'))).toBe(200)
    await writeFile(envFile, '\n')
    expect(await server.reload()).toMatchObject({
      status: 'refused',
      problems: ['basicAuth: the variable SITE_PASSWORD: is not set'],
    })
    expect(await statusOf(server, basic('anna:second'))).toBe(200)
    expect(await statusOf(server)).toBe(401)
  })
})

describe('a wrong rule or variable stops the start', () => {
  test.each([
    [undefined, 'basicAuth: the variable SITE_PASSWORD: is not set'],
    ['secret', 'basicAuth: the variable SITE_PASSWORD: line 1: expected "name:password"'],
  ])('with the value %j, without a password in the message', async (password, problem) => {
    const environment = password === undefined ? {} : { SITE_PASSWORD: password }
    const started = startServer(directory, { site: { rules: { basicAuth }, environment } })
    await expect(started).rejects.toThrow(problem)
    await expect(started).rejects.not.toThrow('secret')
  })

  test('with an unknown key', async () => {
    const rules: ServingRules = JSON.parse('{ "basicAuth": { "env": "A", "password": "b" } }')
    await expect(startServer(directory, { site: { rules } })).rejects.toThrow(
      'basicAuth.password: unknown key',
    )
  })

  test('for hosts that do not ask for credentials', async () => {
    const options = { rules: { basicAuth }, environment: { SITE_PASSWORD: 'anna:a' } }
    await expect(loadSite(directory, options)).rejects.toThrow('basicAuth: only serve() and the command')
    await expect(openLiveSite(directory, options)).rejects.toThrow('basicAuth: only serve() and the command')
  })
})

test('the command protects files and the application, and never logs credentials', async () => {
  const module = join(directory, '../protected-entry.mjs')
  await writeFile(
    module,
    'export default (request, response) => response.end(`application ${request.headers.authorization}`)',
  )
  const config = join(directory, '../protected.config.json')
  await writeFile(config, JSON.stringify({ basicAuth }))
  const flags = ['--workers', '2']
  const command = spawnCommand(
    [
      directory,
      '--port',
      '0',
      '--config',
      config,
      '--ssr',
      module,
      '--access-log',
      'json',
      '--health',
      '/up',
      ...flags,
    ],
    { env: { SITE_PASSWORD: `anna:${hashSync('geheim', 4)}` } },
  )
  const server = await command.listening
  const value = basic('anna:geheim')
  expect(await statusOf(server)).toBe(401)
  expect(await statusOf(server, value)).toBe(200)
  expect(await statusOf(server, undefined, '/api')).toBe(401)
  const answer = await rawRequest(server.port, { target: '/api', fields: { Authorization: value } })
  expect(answer.body.toString()).toBe(`application ${value}`)
  expect(await statusOf(server, undefined, '/up')).toBe(200)
  command.child.kill('SIGTERM')
  const { code, stdout, stderr } = await command.exited
  expect([code, stderr]).toEqual([0, ''])
  expect(stdout.match(/"status":\d+/g)?.toSorted()).toEqual(
    [401, 200, 401, 200].map((status) => `"status":${status}`).toSorted(),
  )
  expect(stdout).not.toMatch(/geheim|Basic|Z2VoZWlt/)
})
