import type { ServingRules } from '@serve-dist/manifest'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { openConnection } from '../support/open-connection.ts'
import { formatRequest, rawRequest } from '../support/raw-request.ts'
import { requestTwice } from '../support/request-twice.ts'
import { startTarget } from '../support/start-target.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

const page = `<p>back soon ${compressibleText(2000)}`
const files = {
  'index.html': 'page',
  'about.html': 'about',
  'maintenance.html': page,
  'robots.txt': 'robots',
  'docs/index.html': 'docs',
  'assets/app-1a2b.js': 'script',
  'assets/plain.js': 'no hash',
}
const maintenance = { from: '/*', to: '/maintenance.html', status: 503, force: true } as const
const navigation = { Accept: 'text/html' }
const program = { Accept: 'application/json' }

let directory: string
let server: StartedServer
beforeAll(async () => {
  directory = await buildFixture(files, {
    isHashed: (path) => path.includes('-1a2b'),
    appType: 'spa',
    assetsDirectory: 'assets',
  })
  server = await start({ redirects: [{ from: '/old', to: '/about', force: true }, maintenance] })
})

async function start(rules: ServingRules): Promise<StartedServer> {
  return await startServer(directory, { site: { rules } })
}

describe('a rule with status 503 and force', () => {
  test.each([
    '/',
    '/about',
    '/about.html',
    '/docs',
    '/old',
    '/unknown?a=b',
    '/maintenance.html',
    '/robots.txt',
    '//a',
    '/a/../b',
  ])('sends its page to a navigation to %s', async (target) => {
    const answer = await rawRequest(server.port, { target, fields: navigation })
    expect([answer.status, answer.body.toString()]).toEqual([503, page])
    expect(answer.field('Cache-Control')).toBe('no-store')
    expect(answer.field('Retry-After')).toBe('60')
    expect(answer.field('Content-Type')).toBe('text/html; charset=utf-8')
    expect([answer.field('ETag'), answer.field('Last-Modified')]).toEqual([undefined, undefined])
  })

  test('negotiates the coding of its page, and answers HEAD without a body', async () => {
    const fields = { ...navigation, 'Accept-Encoding': 'gzip' }
    const whole = await requestTwice(server.port, { fields })
    expect(whole.field('Content-Encoding')).toBe('gzip')
    const head = await rawRequest(server.port, { method: 'HEAD', fields })
    expect([head.status, head.field('Content-Length')]).toEqual([503, String(whole.body.length)])
  })

  test.each([
    ['GET', '/'],
    ['GET', '/api/users'],
    ['GET', '/assets/plain.js'],
    ['GET', '/assets/route'],
    ['POST', '/'],
    ['OPTIONS', '/about'],
    ['DELETE', '/api/users'],
  ])('answers %s %s of a program with an empty 503', async (method, target) => {
    const answer = await rawRequest(server.port, { method, target, fields: program })
    expect([answer.status, answer.body.length]).toEqual([503, 0])
    expect([answer.field('Cache-Control'), answer.field('Retry-After')]).toEqual(['no-store', '60'])
  })

  test('lets hashed assets through, and keeps 404 for unknown ones', async () => {
    const asset = await requestTwice(server.port, { target: '/assets/app-1a2b.js' })
    expect([asset.status, asset.body.toString()]).toEqual([200, 'script'])
    expect((await rawRequest(server.port, { target: '/assets/gone-9z.js' })).status).toBe(404)
  })

  test('still rejects malformed paths, and answers OPTIONS of the server', async () => {
    expect((await rawRequest(server.port, { target: '/%' })).status).toBe(400)
    expect((await rawRequest(server.port, { method: 'OPTIONS', target: '*' })).status).toBe(204)
  })

  test('ignores conditions and ranges', async () => {
    const fields = { ...navigation, 'If-None-Match': '*', Range: 'bytes=0-1' }
    expect((await requestTwice(server.port, { fields })).status).toBe(503)
  })

  test('takes Retry-After from the headers of its page', async () => {
    const other = await start({
      redirects: [maintenance],
      headers: { 'maintenance.html': { 'Retry-After': '3600' } },
    })
    for (const fields of [navigation, program]) {
      expect((await rawRequest(other.port, { fields })).field('Retry-After')).toBe('3600')
    }
  })

  test('answers without a page if the build does not contain it', async () => {
    const warnings: string[] = []
    const rules = { redirects: [{ ...maintenance, to: '/gone.html' }] }
    const other = await startServer(directory, {
      site: { rules, onWarning: (text: string) => warnings.push(text) },
    })
    const answer = await rawRequest(other.port, { fields: navigation })
    expect([answer.status, answer.body.length]).toEqual([503, 0])
    expect(warnings).toEqual(['the rule of /* has status 503, but no page: the build has no file /gone.html'])
  })

  test('covers only its paths', async () => {
    const other = await start({ redirects: [{ ...maintenance, from: '/docs/*' }] })
    const statusOf = async (target: string): Promise<number> =>
      (await requestTwice(other.port, { target, fields: navigation })).status
    expect(await Promise.all(['/', '/docs/', '/docs', '/docs/x', '/docsx'].map(statusOf))).toEqual([
      200, 503, 503, 503, 200,
    ])
  })

  test('keeps the connection in sync, also after an upload', async () => {
    const connection = await openConnection(server.port)
    connection.send(`${formatRequest({ method: 'POST', fields: { 'Content-Length': '4' } })}data`)
    expect((await connection.receive()).status).toBe(503)
    connection.send(formatRequest({ target: '/assets/app-1a2b.js' }))
    expect((await connection.receive()).body.toString()).toBe('script')
    connection.socket.destroy()
  })

  test('answers instead of the target of a rule that proxies, wherever that rule is', async () => {
    const target = await startTarget()
    const api = { from: '/api/*', to: target.url, status: 200, force: true } as const
    const other = await start({ redirects: [api, maintenance] })
    for (const path of ['/api/users', '/api//users', '/api']) {
      const answer = await rawRequest(other.port, { method: 'POST', target: path })
      expect([answer.status, answer.body.length]).toEqual([503, 0])
    }
    expect(target.requests).toEqual([])
  })

  test('answers instead of the application', async () => {
    const ssr = join(directory, '../maintained.mjs')
    await writeFile(ssr, 'export default (_request, response) => response.end("application")')
    const other = await startServer(directory, { ssr, site: { rules: { redirects: [maintenance] } } })
    for (const target of ['/', '/api', '//api', '/assets/route', '/assets/gone.json']) {
      for (const method of ['GET', 'POST']) {
        const { status, body } = await rawRequest(other.port, { method, target })
        expect([target, method, [503, 404].includes(status), body.toString()]).not.toContain('application')
        expect([503, 404]).toContain(status)
      }
    }
  })
})

test('a rule with status 503 and without force answers what the build does not have', async () => {
  const other = await start({ redirects: [{ ...maintenance, force: false }] })
  expect((await requestTwice(other.port, { target: '/about' })).status).toBe(200)
  expect((await rawRequest(other.port, { target: '/api' })).status).toBe(503)
  const answer = await rawRequest(other.port, { target: '/unknown', fields: navigation })
  expect([answer.status, answer.body.toString()]).toEqual([503, page])
})
