import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import {
  contentCodings,
  manifestPath,
  parseManifest,
  stateDirectory,
  variantPath,
} from '@serve-dist/manifest'
import { beforeAll, describe, expect, test } from 'vitest'
import { buildFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { requestTwice } from '../support/request-twice.ts'
import { type StartedServer, startServer } from '../support/start-server.ts'

let directory: string
let server: StartedServer
let streaming: StartedServer
beforeAll(async () => {
  directory = await buildFixture(
    {
      'index.html': compressibleText(2000, 'page'),
      'assets/app.js': compressibleText(20_000),
      'assets/large.js': compressibleText(700_000),
      'assets/style.css': compressibleText(5000),
      'assets/tiny.js': 'export {}',
      'assets/ünïcödé name.svg': compressibleText(4000),
      'image.png': Buffer.from(Array.from({ length: 3000 }, (_, index) => (index * 7919) % 256)),
      'module.wasm': compressibleText(3000),
      'empty.css': '',
      'unknown-type': 'bytes',
    },
    { assetsDirectory: 'assets' },
  )
  server = await startServer(directory)
  streaming = await startServer(directory, { site: { memoryBudget: 0 } })
})

describe('every file of the build', () => {
  test.each([
    ['from memory', () => server],
    ['streamed', () => streaming],
  ])('equals the bytes on the disk, %s, in every coding, by GET and HEAD', async (_how, serverOf) => {
    const { files } = parseManifest(await readFile(join(directory, manifestPath), 'utf8'))
    const compared: string[] = []
    for (const file of files) {
      const target = `/${file.path.split('/').map(encodeURIComponent).join('/')}`
      for (const coding of ['identity', ...contentCodings.map(({ name }) => name)] as const) {
        const hasVariant = file.variants.some((variant) => variant.coding === coding)
        const onDisk = hasVariant && coding !== 'identity' ? variantPath(file.path, coding) : file.path
        const bytes = await readFile(join(directory, onDisk))
        const fields = { 'Accept-Encoding': coding }
        const get = await requestTwice(serverOf().port, { target, fields })
        const head = await requestTwice(serverOf().port, { method: 'HEAD', target, fields })
        expect([onDisk, get.body.equals(bytes), get.framing]).toEqual([onDisk, true, 'length'])
        for (const { status, field } of [get, head]) {
          expect([onDisk, status, field('Content-Length')]).toEqual([onDisk, 200, String(bytes.length)])
          expect(field('Content-Type')).toBe(file.mediaType)
          expect(field('Content-Encoding')).toBe(hasVariant ? coding : undefined)
          expect(field('Vary')).toBe(file.variants.length > 0 ? 'Accept-Encoding' : undefined)
          expect(field('X-Content-Type-Options')).toBe('nosniff')
        }
        compared.push(onDisk)
      }
    }
    const listed = await readdir(directory, { recursive: true, withFileTypes: true })
    const onDisk = listed.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    const served = onDisk.filter((path) => !path.includes(stateDirectory))
    expect(new Set(compared).size).toBe(served.length)
  })

  test('has its own entity tag in every coding, the same in memory and streamed', async () => {
    const tags = new Set<string | undefined>()
    for (const coding of ['identity', 'zstd', 'br', 'gzip']) {
      const request = { target: '/assets/app.js', fields: { 'Accept-Encoding': coding } }
      const held = await requestTwice(server.port, request)
      const streamed = await requestTwice(streaming.port, request)
      expect(streamed.field('ETag')).toBe(held.field('ETag'))
      tags.add(held.field('ETag'))
    }
    expect(tags.size).toBe(4)
    for (const tag of tags) expect(tag).toMatch(/^"[\w-]{22}"$/)
  })
})

describe('the choice of the representation', () => {
  test.each([
    ['zstd, br, gzip', 'zstd'],
    ['gzip, deflate, br, zstd', 'zstd'],
    ['gzip, br', 'br'],
    ['gzip', 'gzip'],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['br;q=0.801, gzip;q=0.8', 'br'],
    ['zstd;q=0, br;q=0, gzip', 'gzip'],
    ['br;q=0', undefined],
    ['*', 'zstd'],
    ['*;q=0.1, gzip', 'gzip'],
    ['identity', undefined],
    ['identity, br;q=0.9', undefined],
    ['identity;q=0, *', 'zstd'],
    ['deflate, compress', undefined],
    ['br;q=2, gzip', 'gzip'],
    ['br;q=x', undefined],
    ['', undefined],
    [',', undefined],
  ])('for Accept-Encoding: %j is %s', async (acceptEncoding, coding) => {
    const response = await requestTwice(server.port, {
      target: '/assets/app.js',
      fields: { 'Accept-Encoding': acceptEncoding },
    })
    expect([response.status, response.field('Content-Encoding')]).toEqual([200, coding])
    expect(response.field('Vary')).toBe('Accept-Encoding')
  })

  test('without Accept-Encoding is the identity', async () => {
    const response = await requestTwice(server.port, { target: '/assets/app.js' })
    expect([response.status, response.field('Content-Encoding')]).toEqual([200, undefined])
    expect(response.field('Vary')).toBe('Accept-Encoding')
  })

  test('reads several lines as one list', async () => {
    const connection = await requestTwice(server.port, {
      target: '/assets/app.js',
      fields: { 'Accept-Encoding': 'gzip;q=0.5', 'accept-encoding': 'br;q=0.4' },
    })
    expect(connection.field('Content-Encoding')).toBe('gzip')
  })

  test.each([
    '*;q=0',
    'identity;q=0',
    'identity;q=0.000, deflate',
    'zstd;q=0, br;q=0, gzip;q=0, identity;q=0',
  ])('for Accept-Encoding: %s is 406', async (acceptEncoding) => {
    const response = await requestTwice(server.port, {
      target: '/assets/app.js',
      fields: { 'Accept-Encoding': acceptEncoding },
    })
    expect([response.status, response.field('Cache-Control')]).toEqual([406, 'no-store'])
    expect(response.field('Vary')).toBe('Accept-Encoding')
  })

  test.each(['/image.png', '/assets/tiny.js', '/empty.css'])(
    'of %s, which has no variants: identity without Vary, and 406 if identity is excluded',
    async (target) => {
      const response = await requestTwice(server.port, {
        target,
        fields: { 'Accept-Encoding': 'zstd, br, gzip' },
      })
      expect([response.status, response.field('Content-Encoding')]).toEqual([200, undefined])
      expect(response.field('Vary')).toBeUndefined()
      const refused = await requestTwice(server.port, { target, fields: { 'Accept-Encoding': 'br, *;q=0' } })
      expect([refused.status, refused.field('Vary')]).toEqual([406, undefined])
    },
  )

  test('by size is the smallest of the equally preferred', async () => {
    const { port } = await startServer(directory, { site: { rules: { prefer: 'smallest' } } })
    const fields = { 'Accept-Encoding': 'zstd, br, gzip' }
    const response = await requestTwice(port, { target: '/assets/large.js', fields })
    const sizes = await Promise.all(
      contentCodings.map(async ({ name }) => {
        const { length } = await readFile(join(directory, variantPath('assets/large.js', name)))
        return length
      }),
    )
    expect(response.body.length).toBe(Math.min(...sizes))
  })

  test.each([
    ['/', 'text/html; charset=utf-8'],
    ['/assets/app.js', 'text/javascript; charset=utf-8'],
    ['/assets/style.css', 'text/css; charset=utf-8'],
    ['/image.png', 'image/png'],
    ['/module.wasm', 'application/wasm'],
    ['/unknown-type', 'application/octet-stream'],
  ])('does not change the media type of %s: %s', async (target, type) => {
    for (const coding of ['identity', 'zstd', 'br', 'gzip']) {
      const response = await requestTwice(server.port, { target, fields: { 'Accept-Encoding': coding } })
      expect(response.field('Content-Type')).toBe(type)
    }
  })
})
