import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { OperatorError } from '@serve-dist/manifest'
import { blobsOf, openStore, purge, type StoreBackend } from '@serve-dist/store'
import { publishFiles, publishWithMissingFile } from '../../test/support/publish-files.ts'
import { temporaryDirectory } from '../../test/support/temporary-directory.ts'
import { createWeightedSemaphore } from '@serve-dist/foundation/concurrency/create-weighted-semaphore'
import { openCacheFolder } from './cache-folder.ts'
import { type Mirror, openMirror } from './open-mirror.ts'
import { type Upstream, upstreamOf } from './upstream.ts'

const kilobyte = (letter: string): Buffer => Buffer.alloc(1000, letter)
const digestOf = (body: Buffer): string => createHash('sha256').update(body).digest('hex')

interface Fixture {
  readonly store: StoreBackend
  readonly cache: string
  /** The cache sees this mirror as another process. */
  readonly open: (cacheSize?: number, upstream?: Upstream) => Mirror
}

async function openFixture(): Promise<Fixture> {
  const folder = await temporaryDirectory()
  const store = await openStore(join(folder, 'store'))
  const cache = await openCacheFolder(join(folder, 'cache'), store.place)
  const open = (cacheSize = 1e9, upstream = upstreamOf(store)): Mirror =>
    openMirror({ upstream, cache, cacheSize, deltas: true, onNotice: () => {} })
  return { store, cache, open }
}

const cached = async (cache: string): Promise<readonly string[]> => await readdir(join(cache, 'blobs'))

describe('a mirror', () => {
  test('has all blobs of the current build and fetches blobs of other builds on demand', async () => {
    const { store, cache, open } = await openFixture()
    const [before, now] = [
      await publishFiles(store.place, { 'a.bin': kilobyte('a') }),
      await publishFiles(store.place, { 'b.bin': kilobyte('b') }),
    ]
    const mirror = open()
    await mirror.refresh()
    expect(await cached(cache)).toEqual(blobsOf(now).map(({ sha256 }) => sha256))
    expect(mirror.generations.map(({ id }) => id)).toEqual([now.buildId, before.buildId])
    const [blob] = blobsOf(before)
    if (blob === undefined) throw new Error('the build has no file')
    await Promise.all(Array.from({ length: 20 }, () => mirror.fetch(blob)))
    expect(mirror.figures).toMatchObject({ fetchedBlobs: 2, fetchedBytes: 2000 })
    expect(await readFile(mirror.fileOf(blob.sha256))).toEqual(kilobyte('a'))
  })

  test('adopts a new build while all fetches for answers stall', async () => {
    const { store, open } = await openFixture()
    const letters = Array.from('abcdefghijklmnopqrst')
    const kept = await publishFiles(
      store.place,
      Object.fromEntries(letters.map((letter) => [`${letter}.bin`, kilobyte(letter)])),
    )
    await publishFiles(store.place, { 'index.html': 'two' })
    const ends = new AbortController()
    const stalled = once(ends.signal, 'abort')
    const upstream = upstreamOf(store)
    const mirror = open(1e9, {
      ...upstream,
      async fetchBlob(blob, to) {
        if (blob.size === 1000) await stalled
        return await upstream.fetchBlob(blob, to)
      },
    })
    await mirror.refresh()
    const answers = blobsOf(kept).map((blob) => mirror.fetch(blob))
    const { buildId } = await publishFiles(store.place, { 'index.html': 'three' })
    await mirror.refresh()
    expect(mirror.generations[0]?.id).toBe(buildId)
    ends.abort()
    expect(new Set(await Promise.all(answers))).toEqual(new Set(['fetched']))
  })

  test('evicts the least recently used blobs, but none of the current build', async () => {
    const { store, cache, open } = await openFixture()
    const bodies = ['a', 'b', 'c', 'd'].map(kilobyte)
    await publishFiles(store.place, Object.fromEntries(bodies.map((body, index) => [`${index}.bin`, body])))
    const mirror = open(2500)
    await mirror.refresh()
    // The current build is complete although it exceeds the size limit.
    expect(await cached(cache)).toHaveLength(4)
    const long = new Date(Date.now() - 60_000)
    for (const body of bodies) await utimes(mirror.fileOf(digestOf(body)), long, long)
    const [first = Buffer.alloc(0)] = bodies
    mirror.noteUse({
      sha256: digestOf(first),
      size: 1000,
      body: undefined,
      file: '',
      fingerprint: '',
      changeTime: '',
    })
    await publishFiles(store.place, { 'e.bin': kilobyte('e') })
    await mirror.refresh()
    const left = [digestOf(first), digestOf(kilobyte('e'))].toSorted()
    await vi.waitFor(async () => expect((await cached(cache)).toSorted()).toEqual(left))
    await vi.waitFor(() => expect(mirror.figures.cacheBytes).toBe(2000))
  })

  test('frees space on a full disk and fails only if the current build does not fit', async () => {
    const { store, cache, open } = await openFixture()
    const before = await publishFiles(store.place, { 'a.bin': kilobyte('a'), 'b.bin': kilobyte('b') })
    await publishFiles(store.place, { 'c.bin': kilobyte('c') })
    const upstream = upstreamOf(store)
    const inTurn = createWeightedSemaphore(1)
    const mirror = open(1e9, {
      ...upstream,
      // One at a time: concurrent checks would both find the same free space.
      fetchBlob: async (blob, to) =>
        await inTurn(async () => {
          if ((await cached(cache)).length < 2) return await upstream.fetchBlob(blob, to)
          const cause = Object.assign(new Error('no space left'), { code: 'ENOSPC' })
          throw new OperatorError('SD_WRITE_FAILED', `${to}: cannot be written`, { cause })
        }),
    })
    await mirror.refresh()
    for (const blob of blobsOf(before)) expect(await mirror.fetch(blob)).toBe('fetched')
    expect(await cached(cache)).toHaveLength(2)
    await publishFiles(store.place, { 'd.bin': kilobyte('d'), 'e.bin': kilobyte('e') })
    await expect(mirror.refresh()).rejects.toThrow('cannot be written')
    expect(await cached(cache)).toContain(digestOf(kilobyte('c')))
  })

  test('shares its folder and fetches files again that another process deleted', async () => {
    const { store, cache, open } = await openFixture()
    await publishFiles(store.place, { 'a.bin': kilobyte('a') })
    const mirrors = Array.from({ length: 4 }, () => open())
    await Promise.all(mirrors.map((mirror) => mirror.refresh()))
    expect(await cached(cache)).toEqual([digestOf(kilobyte('a'))])
    await rm(join(cache, 'blobs', digestOf(kilobyte('a'))))
    for (const mirror of mirrors) await mirror.fetch({ sha256: digestOf(kilobyte('a')), size: 1000 })
    expect(await readFile(join(cache, 'blobs', digestOf(kilobyte('a'))))).toEqual(kilobyte('a'))
  })

  test('deletes leftovers after an hour, but no file that is being written', async () => {
    const { store, cache, open } = await openFixture()
    await publishFiles(store.place, { 'a.bin': kilobyte('a') })
    const [old, fresh] = ['blobs/old.part', 'generations/fresh.json.part'].map((name) => join(cache, name))
    if (old === undefined || fresh === undefined) throw new Error('no names')
    for (const file of [old, fresh]) await writeFile(file, 'part')
    const long = new Date(Date.now() - 2 * 60 * 60 * 1000)
    await utimes(old, long, long)
    await open().refresh()
    await vi.waitFor(async () => expect(await cached(cache)).toHaveLength(1))
    expect((await stat(fresh)).size).toBe(4)
  })

  test('deletes folders that have the path of a file', async () => {
    const { store, cache, open } = await openFixture()
    const { buildId } = await publishFiles(store.place, { 'a.bin': kilobyte('a') })
    const names = [`blobs/${digestOf(kilobyte('a'))}`, `generations/${buildId}.json`, 'current.json']
    for (const name of names) await mkdir(join(cache, name, 'deep'), { recursive: true })
    const live = open()
    await live.refresh()
    await live.fetch({ sha256: digestOf(kilobyte('a')), size: 1000 })
    for (const name of names) expect((await stat(join(cache, name))).isFile()).toBe(true)
  })

  test('starts from the cache without purged builds if the current build is not available', async () => {
    const { store, open } = await openFixture()
    const builds = []
    for (const letter of ['a', 'b', 'c']) {
      builds.push(await publishFiles(store.place, { [`${letter}.bin`]: kilobyte(letter) }))
    }
    const [purged, , last] = builds.map(({ buildId }) => buildId)
    await open().refresh()
    await purge(store, purged ?? '')
    await publishWithMissingFile('d.bin', store.place, { 'd.bin': kilobyte('d') })
    const mirror = open()
    const reason = await mirror.refresh().catch((error: unknown) => error)
    if (!(reason instanceof OperatorError)) throw new Error('it is not refused')
    expect(await mirror.refreshFromCache(reason)).toBe(true)
    expect(mirror.generations.map(({ id }) => id)).toEqual([last, builds[1]?.buildId])
    await purge(store, builds[1]?.buildId ?? '')
    await purge(store, last ?? '')
    const later = open()
    await expect(later.refresh()).rejects.toThrow(OperatorError)
    expect(await later.refreshFromCache(reason)).toBe(false)
  })

  test('reads a truncated manifest of the cache again', async () => {
    const { store, cache, open } = await openFixture()
    const { buildId } = await publishFiles(store.place, { 'a.bin': kilobyte('a') })
    await writeFile(join(cache, `generations/${buildId}.json`), '{"version"')
    const mirror = open()
    await mirror.refresh()
    expect(mirror.generations[0]?.manifest.buildId).toBe(buildId)
  })
})
