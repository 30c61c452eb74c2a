import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cp, mkdir, realpath, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openStore, publish, purge, rollback } from '@serve-dist/store'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { s3Environment } from '../../../store/test/support/start-s3.ts'
import { startFaultyS3 } from '../../../store/test/support/start-faulty-s3.ts'
import { createHandler } from '../../src/hosts/handler.ts'
import { loadSite } from '../../src/load/load-site.ts'
import { openLiveSite } from '../../src/live/open-live-site.ts'
import type { SiteSource } from '../../src/site/site-holder.ts'
import { buildFixture, type FixtureFiles } from '../support/build-fixture.ts'
import { http2Request } from '../support/http2-request.ts'
import type { RawResponse } from '../support/parse-response.ts'
import { publishFiles } from '../support/publish-files.ts'
import { type RawRequest, rawRequest } from '../support/raw-request.ts'
import { hosts, type StartHost } from '../support/start-hosts.ts'
import { makeStore, type StoreFixture } from '../support/start-from-store.ts'
import { startTlsServer } from '../support/start-tls-server.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const faulty = await startFaultyS3()
afterEach(() => void vi.unstubAllEnvs())

/** Too large to be kept in memory. */
const image = randomBytes(300_000)
const imagePath = '/assets/image-1.png'
const held = { openFiles: 4, largestBody: 1024 } as const

interface Host {
  readonly name: string
  readonly start: StartHost
  readonly ask?: (port: number, request: RawRequest) => Promise<RawResponse>
}

const all: readonly Host[] = [
  ...Object.entries(hosts).map(([name, start]) => ({ name, start })),
  {
    name: 'HTTP/2',
    async start(site) {
      const handle = createHandler(site)
      return (await startTlsServer((request, response) => handle(request, response))).port
    },
    ask: http2Request,
  },
]

type Get = (target: string) => Promise<string>

async function isGone(get: Get, target: string): Promise<void> {
  await vi.waitFor(async () => expect(await get(target)).toMatch(/^404 /))
}

describe.each(all)('a store behind $name', (host) => {
  /** Starts a host of a site. Returns a function that gets the status and body of a path. */
  async function asking(site: SiteSource): Promise<Get> {
    const { ask = rawRequest } = host
    const port = await host.start(site)
    return async (target) => {
      const { status, body } = await ask(port, { target })
      return `${status} ${body.equals(image) ? 'image' : body.toString()}`
    }
  }

  async function follow(place: StoreFixture): Promise<Get> {
    const live = await openLiveSite({ ...place, storeInterval: 50, ...held })
    onTestFinished(() => live.close())
    return await asking(live)
  }

  test('follows a deploy and a rollback, and serves files of open tabs', async () => {
    const place = await makeStore({ 'index.html': 'one', [imagePath.slice(1)]: image })
    const get = await follow(place)
    expect(await get('/')).toBe('200 one')
    await publishFiles(place.store, { 'index.html': 'two', 'assets/entry-2.js': 'two()' })
    await vi.waitFor(async () => expect(await get('/')).toBe('200 two'))
    expect(await get(imagePath)).toBe('200 image')
    await rollback(await openStore(place.store))
    await vi.waitFor(async () => expect(await get('/')).toBe('200 one'))
    expect(await get('/assets/entry-2.js')).toBe('200 two()')
  })

  test('stops serving a kept build that is purged or pruned, even from memory', async () => {
    const place = await makeStore()
    const store = await openStore(place.store)
    const put = async (files: FixtureFiles): Promise<string> =>
      (await publishFiles(place.store, files)).buildId
    const first = await put({
      'index.html': 'one',
      'assets/small-1.js': 'small()',
      [imagePath.slice(1)]: image,
    })
    await put({ 'index.html': 'two', 'assets/entry-2.js': 'two()' })
    const get = await follow(place)
    expect(await get('/assets/small-1.js')).toBe('200 small()')
    expect(await get(imagePath)).toBe('200 image')
    await purge(store, first)
    await isGone(get, '/assets/small-1.js')
    await isGone(get, imagePath)
    expect(await get('/')).toBe('200 two')
    await put({ 'index.html': 'three' })
    await vi.waitFor(async () => expect(await get('/')).toBe('200 three'))
    expect(await get('/assets/entry-2.js')).toBe('200 two()')
    const fourth = await buildFixture({ 'index.html': 'four' }, { assetsDirectory: 'assets' })
    await publish(fourth, store, { retention: { generations: 1, age: 0 } })
    await vi.waitFor(async () => expect(await get('/')).toBe('200 four'))
    await isGone(get, '/assets/entry-2.js')
  })

  describe.runIf(faulty !== undefined)('in S3', () => {
    if (faulty === undefined) return
    const { s3, proxy } = faulty

    test.each([
      ['openLiveSite', openLiveSite],
      ['loadSite', loadSite],
    ])("is read once for concurrent requests of an earlier build's file, by %s", async (_name, open) => {
      for (const [name, value] of Object.entries(s3Environment(proxy.endpoint, s3.root)))
        vi.stubEnv(name, value)
      const store = `s3://${await s3.bucket()}/site`
      await publishFiles(store, { 'index.html': 'one', [imagePath.slice(1)]: image })
      await publishFiles(store, { 'index.html': 'two' })
      const site = await open({
        store,
        storeCache: await temporaryDirectory(),
        ...(open === openLiveSite && held),
      })
      if ('close' in site) onTestFinished(() => site.close())
      const get = await asking(site)
      proxy.fail(({ path }) => (path.includes('/blobs/') ? { latency: 300 } : undefined))
      const before = proxy.seen.length
      const answers = await Promise.all(Array.from({ length: 20 }, async () => await get(imagePath)))
      expect(new Set(answers)).toEqual(new Set(['200 image']))
      expect(await get(imagePath)).toBe('200 image')
      expect(proxy.seen.slice(before).filter(({ path }) => path.includes('/blobs/'))).toHaveLength(1)
    })
  })
})

test('openLiveSite names the package that a store needs if it is not installed', async () => {
  const folder = await temporaryDirectory()
  const own = fileURLToPath(new URL('../..', import.meta.url))
  const modules = join(folder, 'node_modules')
  const copy = join(modules, '@serve-dist/server')
  await cp(join(own, 'dist'), join(copy, 'dist'), { recursive: true })
  await cp(join(own, 'package.json'), join(copy, 'package.json'))
  for (const name of ['@serve-dist/manifest', '@remix-run/node-fetch-server']) {
    await mkdir(dirname(join(modules, name)), { recursive: true })
    await symlink(await realpath(join(own, 'node_modules', name)), join(modules, name))
  }
  const script = `import { openLiveSite } from '@serve-dist/server'
    await openLiveSite({ store: 'builds' }).catch(({ code, message }) => console.log(code, message))`
  await writeFile(join(folder, 'open.mjs'), script)
  const { stdout } = await promisify(execFile)(process.execPath, ['open.mjs'], { cwd: folder })
  expect(stdout).toBe(
    'SD_PACKAGE_MISSING builds: a store of builds needs the package @serve-dist/store, which is not installed. Run: npm install @serve-dist/store\n',
  )
})
