import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture, writeFixture } from './testing/build-fixture.ts'
import { compressibleText } from './testing/compressible-text.ts'
import { rawRequest } from './testing/raw-request.ts'
import { type StartedServer, startServer } from './testing/start-server.ts'

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

describe('fileSystemFallback', () => {
  test('serves a file that appeared after boot, to be revalidated', async () => {
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

  test('has another validator for other content, and none once the file is gone', async () => {
    await writeFile(join(directory, 'log.txt'), 'one')
    const first = await rawRequest(server.port, { target: '/log.txt' })
    await writeFile(join(directory, 'log.txt'), 'two!')
    const second = await rawRequest(server.port, { target: '/log.txt' })
    expect(second.body.toString()).toBe('two!')
    expect(second.field('ETag')).not.toBe(first.field('ETag'))
    await rm(join(directory, 'log.txt'))
    expect((await rawRequest(server.port, { target: '/log.txt' })).status).toBe(404)
  })

  test('gives the page of the application to navigations that no file answers', async () => {
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
    const response = await rawRequest(server.port, { target })
    expect([404, 400]).toContain(response.status)
    expect(response.body.toString()).not.toContain('secret')
  })

  test('is off by default', async () => {
    const plain = await startServer(directory)
    await writeFile(join(directory, 'later.txt'), 'x')
    expect((await rawRequest(plain.port, { target: '/later.txt' })).status).toBe(404)
    expect((await rawRequest(server.port, { target: '/later.txt' })).status).toBe(200)
  })
})
