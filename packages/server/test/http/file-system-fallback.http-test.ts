import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, rm, symlink, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { rawRequest } from '../support/raw-request.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

let directory: string
let server: StartedServer
beforeAll(async () => {
  directory = await buildFixture({
    'index.html': 'page',
    'app.js': compressibleText(3000),
    _headers: '/*\n  X-A: 1',
  })
  server = await startServer(directory, { handler: { fileSystemFallback: true } })
})

async function statusOf(method: string, target: string): Promise<number> {
  return (await rawRequest(server.port, { method, target })).status
}

describe('fileSystemFallback', () => {
  test('serves a file that appeared after the start, and has clients revalidate it', async () => {
    await mkdir(join(directory, 'uploads'))
    await writeFile(join(directory, 'uploads/ü b.json'), '{"late":1}')
    const response = await rawRequest(server.port, { target: '/uploads/%C3%BC%20b.json' })
    expect([response.status, response.body.toString()]).toEqual([200, '{"late":1}'])
    expect(response.field('Content-Type')).toMatch(/^application\/json/)
    expect(response.field('Cache-Control')).toBe('no-cache')
    expect(response.field('ETag')).toMatch(/^W\/"/)
    const fields = { 'If-None-Match': response.field('ETag') ?? '' }
    expect((await rawRequest(server.port, { target: '/uploads/%C3%BC%20b.json', fields })).status).toBe(304)
    const part = await rawRequest(server.port, {
      target: '/uploads/%C3%BC%20b.json',
      fields: { Range: 'bytes=2-5' },
    })
    expect([part.status, part.body.toString()]).toEqual([206, 'late'])
  })

  test('serves pages that the manifest does not list, including the first page, without a warning', async () => {
    const built = await buildFixture({ 'app.js': 'script' })
    for (const path of ['index.html', 'about.html', 'docs/index.html']) {
      await mkdir(join(built, path, '..'), { recursive: true })
      await writeFile(join(built, path), path)
    }
    const warnings: string[] = []
    const { port } = await startServer(built, {
      handler: { fileSystemFallback: true },
      site: { onWarning: (warning) => warnings.push(warning) },
    })
    const bodies = ['/', '/about', '/about.html', '/docs/'].map(async (target) =>
      (await rawRequest(port, { target })).body.toString(),
    )
    expect(await Promise.all(bodies)).toEqual(['index.html', 'about.html', 'about.html', 'docs/index.html'])
    expect(warnings).toEqual([])
  })

  test('sends another validator for other content, and none after the file is gone', async () => {
    await writeFile(join(directory, 'log.txt'), 'one')
    const first = await rawRequest(server.port, { target: '/log.txt' })
    await writeFile(join(directory, 'log.txt'), 'two!')
    const second = await rawRequest(server.port, { target: '/log.txt' })
    expect(second.body.toString()).toBe('two!')
    expect(second.field('ETag')).not.toBe(first.field('ETag'))
    await rm(join(directory, 'log.txt'))
    expect((await rawRequest(server.port, { target: '/log.txt' })).status).toBe(404)
  })

  test('sets the fields of rules on such a file', async () => {
    const built = await buildFixture(
      { 'index.html': 'page', _headers: '/app/late/*\n  X-File: 1' },
      { base: '/app/' },
    )
    const rules = {
      securityHeaders: true,
      cacheControl: { 'late/**': 'public, max-age=60' },
      headers: { 'late/*': { 'X-Rule': '1', 'X-Content-Type-Options': null, Vary: 'Origin' } },
    }
    const { port } = await startServer(built, { handler: { fileSystemFallback: true }, site: { rules } })
    await mkdir(join(built, 'late'))
    await writeFile(join(built, 'late/page.html'), 'late')
    const page = await rawRequest(port, { target: '/app/late/page.html' })
    const names = [
      'Cache-Control',
      'X-Rule',
      'X-Content-Type-Options',
      'X-Frame-Options',
      'Referrer-Policy',
      'Vary',
    ]
    expect(names.map((name) => page.field(name))).toEqual([
      'public, max-age=60',
      '1',
      undefined,
      'SAMEORIGIN',
      'strict-origin-when-cross-origin',
      'Origin',
    ])
    expect(page.field('X-File')).toBe('1')
    const part = await rawRequest(port, { target: '/app/late/page.html', fields: { Range: 'bytes=0-1' } })
    expect([part.status, part.field('X-Rule'), part.field('Content-Length')]).toEqual([206, '1', '2'])
  })

  test('finds no files in hidden folders, not even through a link', async () => {
    await mkdir(join(directory, '.hidden'))
    await writeFile(join(directory, '.hidden/secret.txt'), 'secret')
    await symlink(join(directory, '.hidden/secret.txt'), join(directory, 'shown.txt'))
    await symlink(join(directory, '.hidden'), join(directory, 'shown'))
    await symlink(join(directory, '.serve-dist'), join(directory, 'state'))
    for (const target of ['/shown.txt', '/shown/secret.txt', '/state/manifest.json'])
      expect((await rawRequest(server.port, { target })).status).toBe(404)
  })

  test('serves no file outside, even while folders and links are swapped quickly', async () => {
    const outside = await writeFixture({ 'late.txt': 'secret' })
    await mkdir(join(directory, 'real'))
    await writeFile(join(directory, 'real/late.txt'), 'public')
    await symlink(outside, join(directory, 'link'))
    const exchange = `
      const { renameSync } = require('node:fs')
      for (;;) for (const name of ['real', 'link']) renameSync(name, 'late'), renameSync('late', name)`
    const exchanger = spawn(process.execPath, ['-e', exchange], { cwd: directory, stdio: 'ignore' })
    const bodies = new Map<string, number>()
    for (let round = 0; round < 150; round += 1) {
      const answers = Array.from({ length: 20 }, () => rawRequest(server.port, { target: '/late/late.txt' }))
      for (const { body, status } of await Promise.all(answers)) {
        const got = `${status} ${body.toString()}`
        bodies.set(got, (bodies.get(got) ?? 0) + 1)
      }
    }
    exchanger.kill('SIGKILL')
    await once(exchanger, 'exit')
    expect(bodies.get('200 public')).toBeGreaterThan(0)
    expect([...bodies.keys()].filter((got) => got.includes('secret'))).toEqual([])
  })

  test('sends no Last-Modified because replicas differ, and ignores conditions on it', async () => {
    const file = join(directory, 'twice.txt')
    const target = '/twice.txt'
    await writeFile(file, 'AAAAAAAAAA')
    const date = new Date(Math.floor(Date.now() / 1000) * 1000)
    await utimes(file, date, date)
    const dates: Record<string, string>[] = [
      {},
      { 'If-Modified-Since': date.toUTCString() },
      { 'If-Unmodified-Since': 'Sun, 06 Nov 1994 08:49:37 GMT' },
      { 'If-Range': date.toUTCString(), Range: 'bytes=5-' },
    ]
    for (const fields of dates) {
      const response = await rawRequest(server.port, { target, fields })
      expect([fields, response.status, response.body.length]).toEqual([fields, 200, 10])
      expect(response.field('Last-Modified')).toBeUndefined()
    }
  })

  test('knows a path for every method', async () => {
    await writeFile(join(directory, 'methods.txt'), 'x')
    expect(await statusOf('POST', '/methods.txt')).toBe(405)
    expect(await statusOf('OPTIONS', '/methods.txt')).toBe(204)
    expect(await statusOf('HEAD', '/methods.txt')).toBe(200)
    expect(await statusOf('POST', '/methods-not.txt')).toBe(404)
  })

  test('answers the preflight of such a file if rules allow other origins', async () => {
    const { port } = await startServer(directory, {
      handler: { fileSystemFallback: true },
      site: { rules: { cors: ['shared*'] } },
    })
    await writeFile(join(directory, 'shared.json'), '{}')
    const ask = (target: string) => rawRequest(port, { method: 'OPTIONS', target })
    const shared = await ask('/shared.json')
    expect([shared.status, shared.field('Access-Control-Allow-Origin')]).toEqual([204, '*'])
    await writeFile(join(directory, 'own.json'), '{}')
    expect((await ask('/own.json')).field('Access-Control-Allow-Origin')).toBeUndefined()
  })

  test('serves no variant of a file that a rule hides or redirects by force', async () => {
    const built = await buildFixture({
      'index.html': 'page',
      'hidden.txt': compressibleText(3000),
      'moved.txt': compressibleText(3000),
      'replaced.txt': compressibleText(3000),
      'small.txt': 'small',
    })
    const redirects = [
      { from: '/hidden.txt', to: '/index.html', status: 404, force: true },
      { from: '/moved.txt', to: '/elsewhere', force: true },
      { from: '/replaced.txt', to: '/small.txt', status: 200, force: true },
    ] as const
    const { port } = await startServer(built, {
      handler: { fileSystemFallback: true },
      site: { rules: { redirects } },
    })
    for (const name of ['hidden', 'moved', 'replaced']) {
      for (const suffix of ['zst', 'br', 'gz']) {
        const target = `/${name}.txt.${suffix}`
        expect([target, (await rawRequest(port, { target })).status]).toEqual([target, 404])
      }
    }
  })

  test('has priority over rules that are not forced', async () => {
    const ruled = await startServer(directory, {
      handler: { fileSystemFallback: true },
      site: {
        rules: {
          redirects: [
            { from: '/forced.txt', to: '/there', force: true },
            { from: '/*', to: '/app.js', status: 200 },
          ],
        },
      },
    })
    await writeFile(join(directory, 'forced.txt'), 'late')
    await writeFile(join(directory, 'ruled.txt'), 'late')
    const late = await rawRequest(ruled.port, { target: '/ruled.txt' })
    expect(late.body.toString()).toBe('late')
    const forced = await rawRequest(ruled.port, { target: '/forced.txt' })
    expect([forced.status, forced.field('Location')]).toEqual([308, '/there'])
    const unknown = await rawRequest(ruled.port, { target: '/no-such.txt' })
    expect(unknown.field('Content-Type')).toMatch(/javascript/)
  })

  test("gives the application's page to navigations without a file", async () => {
    await writeFile(join(directory, 'late.html'), 'late page')
    const fields = { 'Sec-Fetch-Mode': 'navigate' }
    expect((await rawRequest(server.port, { target: '/late.html', fields })).body.toString()).toBe(
      'late page',
    )
    expect((await rawRequest(server.port, { target: '/users', fields })).body.toString()).toBe('page')
  })

  test.each([
    '/app.js.br',
    '/app.js.gz',
    '/_headers',
    '/.serve-dist/manifest.json',
    '/.env',
    '/secret.txt',
    '/outside/secret.txt',
    '/link.txt',
    '/fifo',
    '/..%2Fsecret.txt',
    '/%2e%2e/secret.txt',
    '/uploads',
    '/a%00b',
  ])('serves no %s', async (target) => {
    const outside = await writeFixture({ 'secret.txt': 'secret' })
    await writeFile(join(directory, '.env'), 'secret')
    await symlink(join(outside, 'secret.txt'), join(directory, 'link.txt')).catch(() => undefined)
    await symlink(outside, join(directory, 'outside')).catch(() => undefined)
    const response = await rawRequest(server.port, { target, fields: { 'Sec-Fetch-Mode': 'cors' } })
    expect([404, 400]).toContain(response.status)
    expect(response.body.toString()).not.toContain('secret')
  })

  test('serves no file that the build left out, and no code of a server', async () => {
    const built = await buildFixture(
      { 'index.html': 'page', 'private/notes.txt': 'secret' },
      { exclude: ['private/**'] },
    )
    const record = { 'entry.js': 'secret', '.serve-dist/record.json': '{"role":"server"}' }
    for (const [path, text] of Object.entries(record)) {
      await mkdir(join(built, 'server', path, '..'), { recursive: true })
      await writeFile(join(built, 'server', path), text)
    }
    await writeFile(join(built, 'private/late.txt'), 'secret')
    await writeFile(join(built, 'late.txt'), 'late')
    await symlink(join(built, 'private/notes.txt'), join(built, 'link.txt')).catch(() => undefined)
    const { port } = await startServer(built, { handler: { fileSystemFallback: true } })
    const targets = ['/private/notes.txt', '/private/late.txt', '/link.txt', '/server/entry.js', '/late.txt']
    const statuses = targets.map(async (target) => (await rawRequest(port, { target })).status)
    expect(await Promise.all(statuses)).toEqual([404, 404, 404, 404, 200])
  })

  test('is off by default', async () => {
    const plain = await startServer(directory)
    await writeFile(join(directory, 'later.txt'), 'x')
    expect((await rawRequest(plain.port, { target: '/later.txt' })).status).toBe(404)
    expect((await rawRequest(server.port, { target: '/later.txt' })).status).toBe(200)
  })
})
