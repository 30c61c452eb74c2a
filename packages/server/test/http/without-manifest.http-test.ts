import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliCompressSync, brotliDecompressSync, gzipSync } from 'node:zlib'
import { serve as serveHono } from '@hono/node-server'
import { contentCodings, variantPath } from '@serve-dist/manifest'
import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import serveDist from '../../src/hosts/fastify.ts'
import { createFetchHandler } from '../../src/hosts/fetch.ts'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import type { LoadSiteOptions } from '../../src/load/load-options.ts'
import { buildFixture, writeFixture } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { requestTwice } from '../support/request-twice.ts'
import { spawnCommand } from '../support/spawn-command.ts'
import { startListener } from '../support/start-listener.ts'
import { startServer } from '../support/start-server.ts'

const closers: (() => unknown)[] = []
afterAll(async () => {
  await Promise.all(closers.splice(0).map((close) => close()))
})

const quiet: LoadSiteOptions = { noManifest: true, onWarning: () => {} }

const hosts: Readonly<Record<string, (directory: string) => Promise<number>>> = {
  'the command': async (directory) =>
    (await spawnCommand([directory, '--port', '0', '--force']).listening).port,
  'the command with workers': async (directory) =>
    (await spawnCommand([directory, '--port', '0', '--force', '--workers', '2']).listening).port,
  'serve()': async (directory) => (await startServer(directory, { site: quiet })).port,
  'the handler': async (directory) => {
    const handle = createHandler(await loadSite(directory, quiet))
    return await startListener((request, response) => handle(request, response, () => response.end()))
  },
  'the fetch handler': async (directory) => {
    const answer = createFetchHandler(await loadSite(directory, quiet))
    const fetch = async (request: Request) => (await answer(request)) ?? new Response()
    return await new Promise((resolve) => {
      const server = serveHono({ fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port))
      closers.push(() => server.close())
    })
  },
  'the plugin of Fastify': async (directory) => {
    const app = Fastify()
    await app.register(serveDist, { site: await loadSite(directory, quiet) })
    closers.push(() => app.close())
    return Number(new URL(await app.listen({ port: 0, host: '127.0.0.1' })).port)
  },
}

const names = Object.keys(hosts)

async function start(host: string, directory: string): Promise<number> {
  return (await hosts[host]?.(directory)) ?? Number.NaN
}

describe('a folder without a manifest', () => {
  const files = {
    'index.html': compressibleText(2000, 'page'),
    'assets/a-12345678.js': compressibleText(3000),
    'data.csv.gz': 'lonely',
  }

  test('is served as if it had one, except for facts of the bundler', async () => {
    const compressed = await buildFixture(files)
    const [described, original] = await Promise.all([
      startServer(await writeFixture(files)),
      startServer(compressed),
    ])
    for (const target of ['/', '/index.html', '/assets/a-12345678.js', '/data.csv.gz', '/unknown', '/%']) {
      const [left, right] = await Promise.all([
        requestTwice(described.port, { target }),
        requestTwice(original.port, { target }),
      ])
      expect([target, left.status, left.field('ETag'), left.body]).toEqual([
        target,
        right.status,
        right.field('ETag'),
        right.body,
      ])
      expect(left.field('Cache-Control')).not.toContain('immutable')
    }
  })

  test('uses siblings as variants only if their original exists', async () => {
    const directory = await writeFixture({
      'a.txt': 'original',
      'a.txt.br': brotliCompressSync('original'),
      'b.txt.br': 'lonely',
    })
    const { port } = await startServer(directory)
    const negotiated = await requestTwice(port, { target: '/a.txt', fields: { 'Accept-Encoding': 'br' } })
    expect(negotiated.field('Content-Encoding')).toBe('br')
    expect(brotliDecompressSync(negotiated.body).toString()).toBe('original')
    const variant = await requestTwice(port, { target: '/a.txt.br' })
    expect(variant.status).toBe(404)
    const lonely = await requestTwice(port, { target: '/b.txt.br', fields: { 'Accept-Encoding': 'br' } })
    expect([lonely.status, lonely.field('Content-Encoding'), lonely.field('Vary')]).toEqual([
      200,
      undefined,
      undefined,
    ])
  })

  describe('with variants of an earlier build', () => {
    const today = compressibleText(3000, 'of today')
    let directory: string
    beforeAll(async () => {
      const before = await buildFixture({ 'app.js': compressibleText(3000, 'of before') })
      const stale = contentCodings.map(async ({ name }) => {
        const path = variantPath('app.js', name)
        return [path, await readFile(join(before, path))] as const
      })
      directory = await writeFixture({ 'app.js': today, ...Object.fromEntries(await Promise.all(stale)) })
    })

    test.each(names)('does not send them, for every Accept-Encoding: %s', async (host) => {
      const port = await start(host, directory)
      for (const coding of ['zstd', 'br', 'gzip', 'zstd, br, gzip, identity;q=0.1', '*']) {
        const response = await requestTwice(port, {
          target: '/app.js',
          fields: { 'Accept-Encoding': coding },
        })
        expect([coding, response.status, response.field('Content-Encoding')]).toEqual([
          coding,
          200,
          undefined,
        ])
        expect([response.body.toString(), response.field('Vary')]).toEqual([today, undefined])
      }
      for (const { name } of contentCodings) {
        const sibling = await requestTwice(port, { target: `/${variantPath('app.js', name)}` })
        expect([sibling.status, sibling.field('Content-Encoding')]).toEqual([200, undefined])
      }
    })
  })

  test('does not send variants that some browsers reject', async () => {
    const text = compressibleText(3000)
    const [head, tail] = [text.slice(0, 1000), text.slice(1000)]
    const build = await buildFixture({ 'app.js': text })
    const { port } = await startServer(
      await writeFixture({
        'app.js': text,
        'app.js.gz': Buffer.concat([gzipSync(head), gzipSync(tail)]),
        'app.js.br': Buffer.concat([brotliCompressSync(text), Buffer.from('x')]),
        'app.js.zst': Buffer.concat([await readFile(join(build, 'app.js.zst')), Buffer.from('x')]),
      }),
      { site: quiet },
    )
    for (const { name } of contentCodings) {
      const response = await requestTwice(port, { target: '/app.js', fields: { 'Accept-Encoding': name } })
      expect([response.field('Content-Encoding'), response.body.toString()]).toEqual([undefined, text])
    }
  })

  test('sends variants that decode to their file, in every coding', async () => {
    const directory = await buildFixture({ 'app.js': compressibleText(3000) })
    const copied = ['app.js', ...contentCodings.map(({ name }) => variantPath('app.js', name))]
    const copies = copied.map(async (path) => [path, await readFile(join(directory, path))] as const)
    const { port } = await startServer(await writeFixture(Object.fromEntries(await Promise.all(copies))), {
      site: quiet,
    })
    for (const { name } of contentCodings) {
      const response = await requestTwice(port, { target: '/app.js', fields: { 'Accept-Encoding': name } })
      expect(response.field('Content-Encoding')).toBe(name)
      expect(response.body).toEqual(await readFile(join(directory, variantPath('app.js', name))))
    }
  })
})

describe('Last-Modified of a folder without a manifest', () => {
  const page = compressibleText(2000, 'page')
  const past = 'Sun, 06 Nov 1994 08:49:37 GMT'
  const future = 'Fri, 06 Nov 2093 08:49:37 GMT'

  test.each(names)('is not sent, and the server ignores date conditions: %s', async (host) => {
    const port = await start(
      host,
      await writeFixture({ 'index.html': page, 'index.html.br': brotliCompressSync(page) }),
    )
    for (const fields of [
      {},
      { 'Accept-Encoding': 'br' },
      { 'If-Modified-Since': future },
      { 'If-Modified-Since': past },
      { 'If-Unmodified-Since': past },
      { 'If-Range': future, Range: 'bytes=0-1' },
    ]) {
      const response = await requestTwice(port, { fields })
      expect([fields, response.status, response.field('Last-Modified')]).toEqual([fields, 200, undefined])
      const revalidated = await requestTwice(port, {
        fields: { ...fields, 'If-None-Match': response.field('ETag') ?? '' },
      })
      expect([revalidated.status, revalidated.field('Last-Modified')]).toEqual([304, undefined])
    }
  })

  test.each(['the command', 'the command with workers'])(
    'is SOURCE_DATE_EPOCH if that is set: %s',
    async (host) => {
      const directory = await writeFixture({ 'index.html': page })
      const workers = host === 'the command' ? [] : ['--workers', '2']
      const args = [directory, '--port', '0', ...workers]
      const { port } = await spawnCommand(args, { env: { SOURCE_DATE_EPOCH: '1700000000' } }).listening
      const date = 'Tue, 14 Nov 2023 22:13:20 GMT'
      expect((await requestTwice(port)).field('Last-Modified')).toBe(date)
      expect((await requestTwice(port, { fields: { 'If-Modified-Since': date } })).status).toBe(304)
      expect((await requestTwice(port, { fields: { 'If-Unmodified-Since': past } })).status).toBe(412)
      const part = await requestTwice(port, { fields: { 'If-Range': date, Range: 'bytes=0-1' } })
      expect([part.status, part.body.length]).toEqual([206, 2])
    },
  )

  test('stops the start if SOURCE_DATE_EPOCH is not a number of seconds', async () => {
    const directory = await writeFixture({ 'index.html': page })
    const { exited } = spawnCommand([directory, '--port', '0'], { env: { SOURCE_DATE_EPOCH: 'yesterday' } })
    const { code, stderr } = await exited
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^serve-dist: SD_OPTION_INVALID: SOURCE_DATE_EPOCH: expected a whole number of seconds/,
      ),
    ])
  })
})
