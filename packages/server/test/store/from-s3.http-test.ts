import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { s3Environment, type S3User } from '../../../store/test/support/start-s3.ts'
import { startFaultyS3 } from '../../../store/test/support/start-faulty-s3.ts'
import { compressibleText } from '../support/compressible-text.ts'
import { offerOf, publishDeltas } from '../support/publish-deltas.ts'
import { publishFiles } from '../support/publish-files.ts'
import { rawRequest } from '../support/raw-request.ts'
import { type StoreServer, start as startFromStore } from '../support/start-from-store.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const faulty = await startFaultyS3()
afterEach(() => void vi.unstubAllEnvs())

const large = Buffer.alloc(300_000, 'abcdefg')
const first = { 'index.html': 'first', 'assets/large-1.bin': large }
const second = { 'index.html': 'second' }

async function start(store: string, storeCache: string): Promise<StoreServer> {
  return await startFromStore({ store, storeCache }, { storeInterval: 50 })
}

const textOf = async (answer: Promise<Response>): Promise<string> => (await answer).text()

describe.runIf(faulty !== undefined)('a server of a store in S3', () => {
  if (faulty === undefined) return
  const { s3, proxy } = faulty
  let reader: S3User
  beforeAll(async () => {
    reader = await s3.user()
  })

  const act = (user: S3User): void => {
    for (const [name, value] of Object.entries(s3Environment(proxy.endpoint, user))) vi.stubEnv(name, value)
  }

  /** Creates a store that one user publishes to, and that another may read but not list. */
  async function makeStore(): Promise<string> {
    const bucket = await s3.bucket()
    const store = `s3://${bucket}/site`
    await s3.allow(bucket, [{ user: reader, actions: ['s3:GetObject'], on: '/*' }])
    return store
  }

  async function publishAsRoot(store: string, files: Parameters<typeof publishFiles>[1]): Promise<void> {
    act(s3.root)
    await publishFiles(store, files)
    act(reader)
  }

  test('follows it with credentials that may read but not list', async () => {
    const store = await makeStore()
    await publishAsRoot(store, first)
    const { get } = await start(store, join(await temporaryDirectory(), 'cache'))
    expect(await textOf(get('/assets/large-1.bin'))).toBe(large.toString())
    await publishAsRoot(store, second)
    await vi.waitFor(async () => expect(await textOf(get('/'))).toBe('second'))
    expect(await textOf(get('/assets/large-1.bin'))).toBe(large.toString())
    expect((await get('/assets/other-1.bin')).status).toBe(404)
  })

  test('loads missing deltas as soon as the store has them again', async () => {
    const store = await makeStore()
    const old = compressibleText(4000, 'old')
    act(s3.root)
    const files = { 'index.html': 'page', 'assets/a-2.js': compressibleText(4000, 'new') }
    await publishDeltas(store, files, { 'assets/a-2.js': [old] })
    act(reader)
    proxy.fail(({ path }) => (path.includes('/deltas/') ? { status: 503 } : {}))
    const { server, get } = await start(store, join(await temporaryDirectory(), 'cache'))
    expect((await get('/assets/a-2.js')).headers.get('use-as-dictionary')).toBeNull()
    proxy.fail()
    const fields = { 'Accept-Encoding': 'br, dcz', 'Available-Dictionary': offerOf(old) }
    const port = Number(new URL(server.url).port)
    await vi.waitFor(async () => {
      const { field } = await rawRequest(port, { target: '/assets/a-2.js', fields })
      expect(field('Content-Encoding')).toBe('dcz')
    })
    await vi.waitFor(() => expect(proxy.seen.at(-1)?.path).toMatch(/current\.json$/))
  })

  test('has a separate cache for each endpoint', async () => {
    const store = await makeStore()
    await publishAsRoot(store, second)
    const storeCache = join(await temporaryDirectory(), 'cache')
    for (const endpoint of [s3.endpoint, proxy.endpoint, proxy.endpoint]) {
      vi.stubEnv('AWS_ENDPOINT_URL_S3', endpoint)
      expect(await textOf((await start(store, storeCache)).get('/'))).toBe('second')
    }
    expect(await readdir(storeCache)).toHaveLength(2)
  })

  test('fails to start if nothing is published', async () => {
    const store = await makeStore()
    act(reader)
    await expect(start(store, join(await temporaryDirectory(), 'cache'))).rejects.toThrow(
      `${store}: the store contains no build, or is not readable. Publish a build`,
    )
  })

  test('requests only the history after it has loaded the build', async () => {
    const store = await makeStore()
    await publishAsRoot(store, first)
    const { get } = await start(store, join(await temporaryDirectory(), 'cache'))
    const before = proxy.seen.length
    for (let count = 0; count < 20; count += 1) {
      expect((await get('/')).status).toBe(200)
      expect(await textOf(get('/assets/large-1.bin'))).toBe(large.toString())
    }
    const asked = proxy.seen.slice(before).map(({ path }) => path.replace(/^.*\/site\//, ''))
    expect(new Set(asked).size).toBeLessThan(2)
    expect(asked.every((key) => key === 'current.json')).toBe(true)
  })

  test('keeps serving while the store is unreachable, starts from the cache, and reports the recovery', async () => {
    const store = await makeStore()
    await publishAsRoot(store, first)
    const storeCache = join(await temporaryDirectory(), 'cache')
    const running = await start(store, storeCache)
    proxy.fail(() => ({ status: 503 }))
    await vi.waitFor(() => expect(running.warnings).toHaveLength(1))
    expect(running.warnings[0]).toContain('. The server continues with the cached builds.')
    expect(await textOf(running.get('/'))).toBe('first')
    const again = await start(store, storeCache)
    expect(again.warnings[0]).toContain(`from ${storeCache}`)
    expect(await textOf(again.get('/assets/large-1.bin'))).toBe(large.toString())
    proxy.fail()
    await publishAsRoot(store, second)
    await vi.waitFor(async () => expect(await textOf(again.get('/'))).toBe('second'))
    expect(again.warnings.at(-1)).toBe(`${store}: is reachable again`)
  })
})
