import { join } from 'node:path'
import express from 'express'
import Fastify from 'fastify'
import { afterAll, describe, expect, onTestFinished, test } from 'vitest'
import serveDist from '../../src/hosts/fastify.ts'
import { createFetchHandler } from '../../src/hosts/fetch.ts'
import { createHandler } from '../../src/hosts/handler.ts'
import type { LiveSiteOptions } from '../../src/load/load-options.ts'
import type { LiveSite } from '../../src/live/open-staged-site.ts'
import { openLiveSite } from '../../src/live/open-live-site.ts'
import { arrayBuffersInUse } from '../support/array-buffers-in-use.ts'
import type { FixtureFiles } from '../support/build-fixture.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { replaceBuildIn } from '../support/replace-build-in.ts'
import { listOpenFilesIn } from '../support/list-open-files-in.ts'
import { requestTwice } from '../support/request-twice.ts'
import { startListener } from '../support/start-listener.ts'
import { startServer } from '../support/start-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const immutable = 'public, max-age=31536000, immutable'
const site: LiveSiteOptions = { rules: { immutable: ['assets/*'] }, largestBody: 100_000 }
const appType = { appType: 'spa', assetsDirectory: 'assets' } as const

/** The files of a build: its page, hashed files in memory and streamed, and source maps. */
function filesOf(build: number): FixtureFiles {
  return {
    'index.html': `<title>${build}</title>`,
    [`assets/app-${build}.js`]: compressibleText(20_000, `app ${build}`),
    [`assets/app-${build}.js.map`]: '{}',
    [`assets/style-${build}.css`]: `/* ${build} */`,
    [`assets/font-${build}.woff2`]: Buffer.alloc(300_000, `font ${build}`),
    [`assets/module-${build}.wasm`]: Buffer.alloc(2000, `wasm ${build}`),
    [`assets/page-${build}.html`]: `<title>${build}</title>`,
  }
}

async function deploy(directory: string, build: number, more: FixtureFiles = {}): Promise<void> {
  await replaceBuildIn(directory, { ...filesOf(build), ...more }, appType)
}

async function openLive(options: LiveSiteOptions = {}): Promise<{ live: LiveSite; directory: string }> {
  const directory = join(await temporaryDirectory(), 'dist')
  await deploy(directory, 1)
  const live = await openLiveSite(directory, { ...site, ...options })
  onTestFinished(() => live.close())
  return { live, directory }
}

const closers: (() => Promise<unknown>)[] = []
afterAll(async () => {
  await Promise.all(closers.map((close) => close()))
})

/** The hosts of a live site, each with a function that sends GET. */
const hosts: readonly (readonly [
  string,
  (live: LiveSite) => Promise<(target: string, fields?: Record<string, string>) => Promise<Response>>,
])[] = [
  ['node:http', async (live) => asking(await startListener(createHandler(live)))],
  ['Express', async (live) => asking(await startListener(express().use(createHandler(live))))],
  [
    'Fastify',
    async (live) => {
      const app = Fastify({ forceCloseConnections: true })
      await app.register(serveDist, { site: live })
      const url = await app.listen({ port: 0, host: '127.0.0.1' })
      closers.push(() => app.close())
      return asking(Number(new URL(url).port))
    },
  ],
  [
    'fetch',
    async (live) => {
      const answer = createFetchHandler(live)
      return async (target, headers = {}) =>
        (await answer(new Request(`http://example.org${target}`, { headers }))) ??
        new Response('', { status: 404 })
    },
  ],
]

function asking(port: number) {
  return async (target: string, headers: Record<string, string> = {}): Promise<Response> =>
    await fetch(`http://127.0.0.1:${port}${target}`, { headers })
}

describe('hashed files of previous builds and the build ID', () => {
  test.each(hosts)('are served by %s, from memory and from deleted files', async (_name, start) => {
    const { live, directory } = await openLive()
    const ask = await start(live)
    await deploy(directory, 2)
    expect(await live.reload()).toMatchObject({ status: 'swapped' })
    for (const [path, content] of Object.entries({ ...filesOf(1), ...filesOf(2) })) {
      if (!path.startsWith('assets/') || path.endsWith('.map') || path.endsWith('.html')) continue
      const answer = await ask(`/${path}`)
      expect([path, answer.status, answer.headers.get('cache-control')]).toEqual([path, 200, immutable])
      expect(Buffer.from(await answer.arrayBuffer()).equals(Buffer.from(content))).toBe(true)
    }
    const encoded = await ask('/assets/app-1.js', { 'Accept-Encoding': 'gzip' })
    expect(encoded.headers.get('content-encoding')).toBe('gzip')
    for (const target of ['/assets/app-1.js', '/assets/font-1.woff2']) {
      const part = await ask(target, { Range: 'bytes=10-14', 'Accept-Encoding': 'identity' })
      expect([part.status, await part.text()]).toEqual([
        206,
        Buffer.from(filesOf(1)[target.slice(1)] ?? '')
          .toString()
          .slice(10, 15),
      ])
      const tag = (await ask(target)).headers.get('etag') ?? ''
      expect((await ask(target, { 'If-None-Match': tag })).status).toBe(304)
    }
    for (const target of ['/assets/app-1.js.map', '/assets/page-1.html', '/assets/never-0.js']) {
      expect([target, (await ask(target)).status]).toEqual([target, 404])
    }
    expect(live.current.summary).toMatchObject({ keptBuilds: 1, keptFiles: 4 })
  })

  test('keep their addresses below the base of their own build', async () => {
    const directory = join(await temporaryDirectory(), 'dist')
    await replaceBuildIn(directory, filesOf(1), { ...appType, base: '/old/' })
    const server = await startServer(directory, { site })
    await deploy(directory, 2)
    await server.reload()
    const { status, body } = await requestTwice(server.port, { target: '/old/assets/style-1.css' })
    expect([status, String(body)]).toEqual([200, '/* 1 */'])
    expect((await requestTwice(server.port, { target: '/assets/style-1.css' })).status).toBe(404)
  })

  test('yield to a different file of the current build with the same name', async () => {
    const { live, directory } = await openLive()
    const ask = asking(await startListener(createHandler(live)))
    await deploy(directory, 2, { 'assets/style-1.css': 'no hash after all' })
    await live.reload()
    expect(await (await ask('/assets/style-1.css')).text()).toBe('no hash after all')
  })

  test('do not interfere with a rollback or with the next deploy', async () => {
    const { live, directory } = await openLive()
    const ask = asking(await startListener(createHandler(live)))
    for (const build of [2, 1, 3, 2, 1]) {
      await deploy(directory, build)
      expect(await live.reload()).toMatchObject({ status: 'swapped' })
      expect(await (await ask('/')).text()).toBe(`<title>${build}</title>`)
    }
    for (const build of [1, 2, 3]) {
      for (const name of [`app-${build}.js`, `font-${build}.woff2`]) {
        expect([name, (await ask(`/assets/${name}`)).status]).toEqual([name, 200])
      }
    }
    expect(live.current.summary).toMatchObject({ keptBuilds: 2, keptFiles: 8 })
  })

  test('report the current build', async () => {
    const { live, directory } = await openLive()
    const ask = asking(await startListener(createHandler(live)))
    const before = await ask('/__serve-dist/build.json')
    expect(await before.json()).toEqual({ buildId: live.current.buildId })
    await deploy(directory, 2)
    await live.reload()
    const tag = before.headers.get('etag') ?? ''
    const after = await ask('/__serve-dist/build.json', { 'If-None-Match': tag })
    expect([after.status, after.headers.get('cache-control')]).toEqual([200, 'no-cache'])
    expect(await after.json()).toEqual({ buildId: live.current.buildId })
  })

  test('are dropped when the process restarts', async () => {
    const { live, directory } = await openLive()
    await deploy(directory, 2)
    await live.reload()
    live.close()
    await expect.poll(() => listOpenFilesIn(directory)).toEqual([])
  })

  test.skipIf(process.platform !== 'linux')(
    'stay within the limits of memory and descriptors after 50 deploys',
    async () => {
      const memoryBudget = 300_000
      const openFiles = 4
      const { live, directory } = await openLive({ memoryBudget, openFiles })
      const ask = asking(await startListener(createHandler(live)))
      const used: number[] = []
      for (let build = 2; build <= 51; build += 1) {
        await deploy(directory, build)
        expect(await live.reload()).toMatchObject({ status: 'swapped' })
        expect(live.current.summary.bytesInMemory).toBeLessThanOrEqual(memoryBudget)
        if (build === 11 || build === 51) used.push(await arrayBuffersInUse())
      }
      await expect.poll(() => listOpenFilesIn(directory).length).toBe(openFiles)
      const [early = 0, late = 0] = used
      expect(late - early).toBeLessThan(memoryBudget)
      // The newest builds have evicted the oldest.
      const kept = [51, 50, 49, 48, 10, 1].map(
        async (build) => (await ask(`/assets/font-${build}.woff2`)).status,
      )
      expect(await Promise.all(kept)).toEqual([200, 200, 200, 200, 404, 404])
      expect((await ask('/assets/app-50.js')).status).toBe(200)
      expect((await ask('/assets/app-1.js')).status).toBe(404)
      live.close()
      await expect.poll(() => listOpenFilesIn(directory)).toEqual([])
    },
  )
})
