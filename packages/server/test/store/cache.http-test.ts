import { randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { canMountFolders, mountFolder } from '../../../precompress/test/support/mount-folder.ts'
import { publishFiles } from '../support/publish-files.ts'
import { makeStore, type StoreServer, start } from '../support/start-from-store.ts'

const canMount = await canMountFolders()
const megabyte = 1024 * 1024

async function readSoFar(): Promise<number> {
  return Number(/rchar: (\d+)/.exec(await readFile('/proc/self/io', 'utf8'))?.[1])
}

/** Returns the number of bytes that this process reads during an operation. */
async function readWhile(work: () => Promise<unknown>): Promise<number> {
  const before = await readSoFar()
  await work()
  return (await readSoFar()) - before
}

async function becomes({ get }: StoreServer, page: string): Promise<void> {
  await vi.waitFor(async () => expect(await (await get('/')).text()).toBe(page))
}

describe.runIf(process.platform === 'linux')('a large file of a store', () => {
  const path = 'assets/film-1.bin'
  const film = randomBytes(8 * megabyte)

  test('is not read again to verify it after the download, whichever build is served', async () => {
    const place = await makeStore({ 'index.html': 'one', [path]: film })
    const started = await start(place)
    const part = async (): Promise<Response> => await started.get(path, { Range: 'bytes=-2' })
    expect(await readWhile(part)).toBeLessThan(megabyte)
    await publishFiles(place.store, { 'index.html': 'two', [path]: film })
    await becomes(started, 'two')
    expect(await readWhile(part)).toBeLessThan(megabyte)
    await publishFiles(place.store, { 'index.html': 'three' })
    await becomes(started, 'three')
    expect(await readWhile(part)).toBeLessThan(megabyte)
    expect(Buffer.from(await (await part()).arrayBuffer())).toEqual(film.subarray(-2))
  })

  test('that an earlier process has cached is read once, for the first response', async () => {
    const place = await makeStore({ 'index.html': 'one', [path]: film })
    await (await start(place)).server.close()
    const started = await start(place)
    const part = async (): Promise<Response> => await started.get(path, { Range: 'bytes=-2' })
    const read = await readWhile(() => Promise.all([part(), part(), part()]))
    expect(read).toBeGreaterThan(film.length)
    expect(read).toBeLessThan(film.length + megabyte)
    expect(await readWhile(part)).toBeLessThan(megabyte)
    await publishFiles(place.store, { 'index.html': 'two', [path]: film })
    await becomes(started, 'two')
    expect(await readWhile(part)).toBeLessThan(megabyte)
  })
})

test.each([
  ['all files are streamed', { memoryBudget: 0, openFiles: 0 }],
  ['all files are open', { memoryBudget: 0, openFiles: 100 }],
])('a server fetches its files again after the cache was deleted, if %s', async (_what, site) => {
  const pages = Object.fromEntries(
    Array.from({ length: 12 }, (_, page) => [`page-${page}.html`, `<p>${page}</p>`.repeat(40)]),
  )
  const place = await makeStore({ 'index.html': 'one', ...pages })
  const { get, problems } = await start(place, { site })
  await rm(place.storeCache, { recursive: true })
  const answers = await Promise.all(
    Object.keys(pages).map(async (name) => await get(name.replace('.html', ''))),
  )
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
  expect(await Promise.all(answers.map(async (answer) => await answer.text()))).toEqual(Object.values(pages))
  expect(problems).toEqual([])
})

/** Fills the disk of a folder. */
async function fill(folder: string): Promise<void> {
  const name = join(folder, `filler-${randomBytes(4).toString('hex')}`)
  await expect(writeFile(name, randomBytes(megabyte))).rejects.toThrow('ENOSPC')
}

describe.runIf(canMount)('a store cache on a full disk', () => {
  const bytes = randomBytes(500_000)

  test('evicts the least recently used files, and else reports the problem', async () => {
    const place = await makeStore(
      { 'index.html': 'one', 'assets/a-1.bin': bytes },
      { 'index.html': 'two', 'assets/b-1.bin': bytes.toReversed() },
      { 'index.html': 'three' },
    )
    await mkdir(place.storeCache)
    await mountFolder(place.storeCache, '-t', 'tmpfs', '-o', 'size=900k', 'tmpfs')
    const started = await start(place)
    for (const name of ['a', 'b', 'a']) {
      const answer = await started.get(`assets/${name}-1.bin`)
      expect(answer.status).toBe(200)
      expect((await answer.arrayBuffer()).byteLength).toBe(bytes.length)
    }
    await publishFiles(place.store, { 'index.html': 'four', 'large.bin': randomBytes(2 * megabyte) })
    await vi.waitFor(() => expect(started.warnings).toHaveLength(1))
    expect(started.warnings[0]).toMatch(
      /reload refused, still serving .*\n.*cannot write this file \(ENOSPC/s,
    )
    expect(await (await started.get('/')).text()).toBe('three')
    const [own = ''] = await readdir(place.storeCache)
    expect(
      (await readdir(join(place.storeCache, own, 'blobs'))).filter((name) => name.endsWith('.part')),
    ).toEqual([])
  })

  test('frees space for a build even if the disk has no byte left for its manifest', async () => {
    const place = await makeStore({ 'index.html': 'one', 'assets/a-1.bin': bytes }, { 'index.html': 'two' })
    await mkdir(place.storeCache)
    await mountFolder(place.storeCache, '-t', 'tmpfs', '-o', 'size=900k', 'tmpfs')
    const started = await start(place, { storeInterval: 50 })
    expect((await started.get('assets/a-1.bin')).status).toBe(200)
    await fill(place.storeCache)
    await publishFiles(place.store, { 'index.html': 'three' })
    await becomes(started, 'three')
    expect(started.warnings).toEqual([])
    // Now the cache has nothing left to evict.
    await fill(place.storeCache)
    await publishFiles(place.store, { 'index.html': 'four' })
    await vi.waitFor(() => expect(started.warnings).toHaveLength(1))
    expect(started.warnings[0]).toMatch(
      /reload refused, still serving .*\n.*cannot write this file \(ENOSPC/s,
    )
    expect(await (await started.get('/')).text()).toBe('three')
  })
})
