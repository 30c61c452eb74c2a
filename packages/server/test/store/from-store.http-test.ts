import { readdir, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { openStore, publish, purge } from '@serve-dist/store'
import Fastify from 'fastify'
import serveDist from '../../src/hosts/fastify.ts'
import { createHandler } from '../../src/hosts/handler.ts'
import { createFetchHandler } from '../../src/hosts/fetch.ts'
import { resolveLiveSiteOptions } from '../../src/load/load-options.ts'
import { followStore } from '../../src/live/follow-store.ts'
import { openLiveSite } from '../../src/live/open-live-site.ts'
import { openStagedSite } from '../../src/live/open-staged-site.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { serve } from '../../src/serve/serve.ts'
import type { Site } from '../../src/site/site.ts'
import { buildFixture, type FixtureFiles } from '../support/build-fixture.ts'
import { publishFiles, publishWithMissingFile } from '../support/publish-files.ts'
import { cachedFile, makeStore, start } from '../support/start-from-store.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const large = Buffer.alloc(300_000, 'abcdefg')
const first = { 'index.html': '<p>first', 'assets/large-1a2b3c4d.bin': large }
const second = { 'index.html': '<p>second' }

const textOf = async (answer: Promise<Response>): Promise<string> => (await answer).text()
const largePath = 'assets/large-1a2b3c4d.bin'

describe('a server of a store', () => {
  test('serves the current build', async () => {
    const { get } = await start(await makeStore(first))
    expect(await textOf(get('/'))).toBe('<p>first')
    const answer = await get(largePath)
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(Buffer.from(await answer.arrayBuffer()).equals(large)).toBe(true)
  })

  test('serves hashed files of earlier builds, at the start and after a swap', async () => {
    const place = await makeStore()
    const put = async (files: FixtureFiles): Promise<unknown> => await publishFiles(place.store, files)
    await put({ 'index.html': 'one', 'one.html': 'one', 'assets/a-1.js': 'a', 'assets/big-1.bin': large })
    await put({ 'index.html': 'two', 'assets/b-2.js': 'b' })
    const { get } = await start(place)
    const expectFiles = async (): Promise<void> => {
      expect(await textOf(get('/assets/a-1.js'))).toBe('a')
      const answer = await get('/assets/big-1.bin')
      expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(await answer.text()).toBe(large.toString())
      expect((await get('/one.html')).status).toBe(404)
    }
    await expectFiles()
    await put({ 'index.html': 'three' })
    await vi.waitFor(async () => expect(await textOf(get('/'))).toBe('three'))
    await expectFiles()
    expect(await textOf(get('/assets/b-2.js'))).toBe('b')
  })

  test('fetches a kept file once for concurrent requests', async () => {
    const place = await makeStore({ 'index.html': 'one', 'assets/big-1.bin': large }, { 'index.html': 'two' })
    const live = await openLiveSite(place)
    onTestFinished(() => live.close())
    expect(live.store).toMatchObject({ place: place.store, state: { reachable: true } })
    const before = live.store?.figures.fetchedBlobs ?? 0
    const handle = createFetchHandler(live)
    const ask = async (): Promise<string | undefined> =>
      (await handle(new Request('http://localhost/assets/big-1.bin')))?.text()
    const bodies = await Promise.all(Array.from({ length: 20 }, ask))
    expect(bodies.every((body) => body === large.toString())).toBe(true)
    expect(live.store?.figures.fetchedBlobs).toBe(before + 1)
  })

  test('that is behind serves files of a newer build, after one refresh for all requests', async () => {
    const page = { 'index.html': 'one', 'assets/a-1.js': 'a' }
    const place = await makeStore(page)
    const live = await openStagedSite({ ...place, storeInterval: 3_600_000 }, resolveLiveSiteOptions({}))
    onTestFinished(() => live.close())
    const handle = createFetchHandler(live)
    const ask = async (path: string): Promise<string> => {
      const answer = await handle(new Request(`http://localhost${path}`))
      return `${answer?.status} ${await answer?.text()}`
    }
    await publishFiles(place.store, { 'index.html': 'two', 'assets/b-2.js': 'b' })
    const { looks = 0 } = live.store?.figures ?? {}
    // A busy machine may take longer than the 500 ms that a request waits for the refresh.
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const asked = await Promise.all(Array.from({ length: 20 }, () => ask('/assets/b-2.js')))
    vi.useRealTimers()
    expect(new Set(asked)).toEqual(new Set(['200 b']))
    expect(live.store?.figures.looks).toBe(looks + 1)
    expect(await ask('/')).toBe('200 one')
    expect(await ask('/assets/a-1.js')).toBe('200 a')
    expect(await live.reload()).toMatchObject({ status: 'swapped' })
    expect(await ask('/')).toBe('200 two')
    expect(await ask('/assets/a-1.js')).toBe('200 a')
  })

  test('prepares the responses of each site before the swap', async () => {
    const page = { 'index.html': 'one', 'assets/a-1.js': 'a' }
    const place = await makeStore(page)
    const live = await openStagedSite({ ...place, storeInterval: 3_600_000 }, resolveLiveSiteOptions({}))
    onTestFinished(() => live.close())
    const prepared = new Set<Site>()
    const swapped: Site[] = []
    live.follow({
      prepare: async (site) => {
        await nextTurn()
        prepared.add(site)
      },
      swap: (site) => void swapped.push(site),
    })
    await publishFiles(place.store, { 'index.html': 'two', 'assets/b-2.js': 'b' })
    // The refresh first adds files of the newer build, then loads all of it.
    await live.refreshForMissingAsset?.()
    expect(await live.reload()).toMatchObject({ status: 'swapped' })
    const [, joined, ...others] = swapped
    expect(joined?.buildId).toBe(swapped[0]?.buildId)
    expect(others.length).toBeGreaterThan(0)
    expect(swapped.slice(1).filter((site) => !prepared.has(site))).toEqual([])
    expect(live.current).toBe(swapped.at(-1))
  })

  test('keeps serving while the store is unreachable, and starts from its cache', async () => {
    const place = await makeStore(first)
    const { get, server } = await start(place)
    await rename(place.store, `${place.store}-away`)
    await writeFile(place.store, 'no folder')
    expect(await server.reload()).toMatchObject({ status: 'refused' })
    expect(await textOf(get('/'))).toBe('<p>first')
    const again = await start(place)
    expect(await textOf(again.get(largePath))).toBe(large.toString())
    expect(again.warnings).toEqual([expect.stringContaining(`from ${place.storeCache}`)])
  })

  test('fails to start if nothing is published', async () => {
    const place = await makeStore()
    await expect(serve({ ...place, port: 0 })).rejects.toThrow(
      `${place.store}: the store contains no build, or is not readable. Publish a build: serve-dist publish <dir> --store ${place.store}`,
    )
  })

  test('rejects a build with a missing file, and keeps the previous one', async () => {
    const place = await makeStore(first)
    const { get, server, warnings } = await start(place, { storeInterval: 50 })
    const build = await buildFixture(second)
    const other = join(await temporaryDirectory(), 'store')
    const { id } = await publish(build, await openStore(other))
    const blobs = join(other, 'blobs')
    const [name = ''] = await readdir(blobs)
    await rename(join(blobs, name), join(other, name))
    await rename(place.store, `${place.store}-before`)
    await rename(other, place.store)
    await vi.waitFor(() => expect(warnings).toHaveLength(1))
    expect(warnings[0]).toContain('is missing. Publish the build again.')
    expect(await textOf(get('/'))).toBe('<p>first')
    await rename(join(place.store, name), join(place.store, 'blobs', name))
    await vi.waitFor(async () => expect(await textOf(get('/'))).toBe('<p>second'))
    expect(warnings).toHaveLength(1)
    expect(server.site.buildId).toBe(id)
  })

  test('stops serving files of a purged build, even while it rejects the current one', async () => {
    const place = await makeStore()
    const leaked = await publishFiles(place.store, {
      'index.html': 'one',
      'assets/a-1.js': 'leaked',
      'assets/large-1.bin': large,
    })
    await publishFiles(place.store, { 'index.html': 'two', 'assets/b-2.js': 'b' })
    await publishFiles(place.store, { 'index.html': 'three', 'assets/c-3.js': 'c' })
    const { get, warnings } = await start(place, { storeInterval: 50, site: { openFiles: 10 } })
    await publishWithMissingFile('index.html', place.store, { 'index.html': 'four', 'assets/d-4.js': 'd' })
    await vi.waitFor(() => expect(warnings).toHaveLength(1))
    const answers = async (): Promise<readonly string[]> =>
      await Promise.all(
        ['', 'assets/a-1.js', 'assets/b-2.js', 'assets/c-3.js'].map((path) => textOf(get(path))),
      )
    expect(await answers()).toEqual(['three', 'leaked', 'b', 'c'])
    await purge(await openStore(place.store), leaked.buildId)
    await vi.waitFor(async () => expect((await get('assets/a-1.js')).status).toBe(404))
    expect((await get('assets/large-1.bin')).status).toBe(404)
    expect(await answers()).toEqual(['three', '404 Not Found\n', 'b', 'c'])
    expect(warnings).toHaveLength(1)
  })

  test.each([0, 10])(
    'fetches a file again that is missing or damaged in its cache, with %i files kept open',
    async (openFiles) => {
      const place = await makeStore(first)
      const { get, problems } = await start(place, { site: { openFiles } })
      const file = await cachedFile(place, large.length)
      for (const spoil of [
        () => truncate(file, 1000),
        () => writeFile(file, Buffer.alloc(large.length, 'x')),
        () => rm(file),
      ]) {
        await spoil()
        expect(await textOf(get(largePath))).toBe(large.toString())
      }
      expect(problems).toEqual([])
      expect((await readFile(file)).equals(large)).toBe(true)
    },
  )

  test('answers 503 for a file that only the unreachable store has, but serves HEAD and 304', async () => {
    const place = await makeStore(first)
    const { get, server } = await start(place)
    await rm(await cachedFile(place, large.length))
    await rename(place.store, `${place.store}-away`)
    await writeFile(place.store, 'no folder')
    const refused = await get(largePath)
    expect(refused.status).toBe(503)
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      'retry-after': '5',
      'cache-control': 'no-store',
    })
    const head = await fetch(new URL(largePath, server.url), { method: 'HEAD' })
    expect(head.headers.get('content-length')).toBe(String(large.length))
    const tag = head.headers.get('etag') ?? ''
    expect((await get(largePath, { 'If-None-Match': tag })).status).toBe(304)
    await rm(place.store)
    await rename(`${place.store}-away`, place.store)
    expect(await textOf(get(largePath))).toBe(large.toString())
  })

  test('answers 404 for a file that neither cache nor store has', async () => {
    const place = await makeStore(first)
    const { get } = await start(place)
    const file = await cachedFile(place, large.length)
    await rm(file)
    await rm(join(place.store, 'blobs', basename(file)))
    const answer = await get(largePath)
    expect(answer.status).toBe(404)
    expect(answer.headers.get('cache-control')).toBe('no-store')
  })

  test('rejects a folder together with a store', async () => {
    await expect(serve({ ...(await makeStore(first)), directory: 'dist' })).rejects.toThrow(
      'directory: cannot be combined with store. Remove one of them.',
    )
  })
})

describe('options for folders', () => {
  const folderOptions = { verify: 'hash', unlisted: 'ignore', noManifest: true } as const

  test('cause one warning each if a store is served', async () => {
    const place = await makeStore(first)
    const warnings: string[] = []
    const onWarning = (text: string): unknown => warnings.push(text)
    const expected = Object.keys(folderOptions).map((name) =>
      expect.stringMatching(`^${name} has no effect with a store: .`),
    )
    expect((await start(place, { site: folderOptions })).warnings).toEqual(expected)
    await loadSite({ ...place, ...folderOptions, onWarning })
    expect(warnings).toEqual(expected)
    const live = await openLiveSite({ ...place, ...folderOptions, onWarning })
    onTestFinished(() => live.close())
    await live.reload()
    expect(warnings).toEqual([...expected, ...expected])
  })

  test('cause no warning with their default values', async () => {
    const site = { verify: 'size', unlisted: 'refuse', noManifest: false } as const
    expect((await start(await makeStore(first), { site })).warnings).toEqual([])
  })

  test('rejects a disk fallback with a store, in every host', async () => {
    const place = await makeStore(first)
    const live = await openLiveSite(place)
    onTestFinished(() => live.close())
    const problem = 'fileSystemFallback: builds from a store have no folder. Remove this option.'
    const handler = { fileSystemFallback: true }
    await expect(serve({ ...place, handler })).rejects.toThrow(`handler.${problem}`)
    for (const site of [live, await loadSite(place)]) {
      expect(() => createHandler(site, handler)).toThrow(problem)
      expect(() => createFetchHandler(site, handler)).toThrow(problem)
      await expect(Fastify().register(serveDist, { site, ...handler })).rejects.toThrow(problem)
    }
  })

  test('rejects store options with a folder', async () => {
    const problems = ['storeCache', 'storeCacheSize', 'storeInterval'].map(
      (name) => `${name}: this option needs a store. Set store, or remove this option.`,
    )
    const options = { directory: 'dist', storeCache: '/cache', storeCacheSize: 1, storeInterval: 1 }
    await expect(serve(options)).rejects.toMatchObject({ code: 'SD_OPTION_INVALID', problems })
  })
})

test('loadSite reads the current build', async () => {
  const site = await loadSite(await makeStore(first, second))
  expect(site.files.has('index.html')).toBe(true)
  expect(site.summary.files).toBe(1)
})

test('a replica that is behind checks its store before it answers 404 for a hashed file', async () => {
  const place = await makeStore()
  const store = await openStore(place.store)
  const put = async (files: FixtureFiles): Promise<unknown> =>
    await publish(await buildFixture(files, { appType: 'spa', assetsDirectory: 'assets' }), store)
  await put({ 'index.html': 'one', 'assets/a-1.js': 'one' })
  const live = await openStagedSite(place, resolveLiveSiteOptions({}))
  onTestFinished(() => live.close())
  // As with a bucket, no event reports a change, and the next check is far away.
  Object.assign(live.watched ?? {}, { folders: [], interval: 3_600_000 })
  const following = followStore(live, () => live.reload(), resolveLiveSiteOptions({}))
  onTestFinished(() => following.close())
  const handle = createFetchHandler(live)
  const ask = async (path: string): Promise<number | undefined> =>
    (await handle(new Request(`http://example.org${path}`)))?.status
  expect(await ask('/assets/a-1.js')).toBe(200)
  await put({ 'index.html': 'two', 'assets/a-2.js': 'two' })
  const { looks } = live.store?.figures ?? { looks: 0 }
  // A busy machine may take longer than the 500 ms that a request waits for the check.
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  expect(await Promise.all([1, 2, 3].map(async () => await ask('/assets/a-2.js')))).toEqual([200, 200, 200])
  vi.useRealTimers()
  const asked = Array.from({ length: 20 }, async (_, index) => await ask(`/assets/none-${index}.js`))
  expect(new Set(await Promise.all(asked))).toEqual(new Set([undefined]))
  // The check, and the reload that it causes.
  expect((live.store?.figures.looks ?? 0) - looks).toBeLessThan(6)
})
