import { appendFile, cp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { shortId } from '@serve-dist/foundation/text/short-id'
import { manifestPath, pendingPath } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { buildFixture, writeFixture } from '../../../server/test/support/build-fixture.ts'
import { temporaryDirectory } from '../../../server/test/support/temporary-directory.ts'
import type { StoreBackend } from '../../src/backend.ts'
import {
  type ChangeOptions,
  listGenerations,
  openStore,
  prune,
  type PublishProgress,
  publish,
  purge,
  readGeneration,
  rollback,
} from '../../src/index.ts'
import { blobKey, currentKey, generationKey } from '../../src/layout.ts'
import { type MadeBuild, makeBuild, makeVersion, makeVersions } from '../support/make-builds.ts'
import { beforePut, storeOf } from '../support/open-stores.ts'
import {
  differences,
  faultsOf,
  generationsIn,
  keyOf,
  keysIn,
  manifestOf,
  rowsOf,
  textAt,
} from '../support/read-store.ts'
import { expectRefusal } from '../../../server/test/support/expect-refusal.ts'

const [first, second, third] = await makeVersions()

describe('publish', () => {
  test('stores every file, and only new files of the next build', async () => {
    const store = await storeOf()
    const cold = await publish(first.directory, store)
    expect(cold).toMatchObject({ id: first.id, isDryRun: false, new: { files: 5 }, reused: { blobs: 0 } })
    expect(cold).not.toHaveProperty('replaced')
    expect(await publish(second.directory, store)).toMatchObject({
      id: second.id,
      replaced: first.id,
      new: { files: 3 },
      reused: { files: 2 },
      kept: { files: 3 },
      generations: [second.id, first.id],
      pruned: { generations: [], blobs: 0, bytes: 0 },
      warnings: [],
    })
    for (const build of [first, second]) expect(await differences(store, build)).toEqual([])
    expect(await faultsOf(store)).toEqual([])
  })

  test('reports the download of returning visitors in the smallest form, without source maps', async () => {
    const store = await storeOf(first)
    const { directory } = await makeVersion(2, { 'town.map': 'a level of a game' })
    const { files } = await manifestOf(directory)
    const changed = files.filter(({ path }) => /^index\.html$|^assets\/app-2\.js$|^town\.map$/.test(path))
    const bytes = changed.map(({ size, variants }) => Math.min(size, ...variants.map((each) => each.size)))
    const summary = await publish(directory, store)
    expect(summary).toMatchObject({ wasCurrent: false, download: { files: 3 } })
    expect(summary.download?.bytes).toBe(bytes.reduce((sum, size) => sum + size))
    const again = await publish(directory, store)
    expect(again.wasCurrent).toBe(true)
    expect(again).not.toHaveProperty('download')
  })

  test('returns plain data and reports progress', async () => {
    const progress: PublishProgress[] = []
    const summary = await publish(first.directory, await storeOf(), {
      onProgress: (step) => progress.push(step),
    })
    expect(JSON.parse(JSON.stringify(summary))).toEqual(summary)
    const { blobs, bytes } = summary.new
    expect(progress).toHaveLength(blobs)
    expect(progress.at(-1)).toEqual({ blobs, bytes, allBlobs: blobs, allBytes: bytes })
  })

  test('adds a row for an earlier build, but not for the current one', async () => {
    const store = await storeOf(first, second)
    const again = await publish(first.directory, store)
    expect(again).toMatchObject({ replaced: second.id, new: { blobs: 0, bytes: 0 }, reused: { files: 5 } })
    expect(await publish(first.directory, store)).not.toHaveProperty('replaced')
    expect((await rowsOf(store)).map(({ number, id }) => [number, id])).toEqual([
      [3, first.id],
      [2, second.id],
      [1, first.id],
    ])
  })

  test('deletes builds beyond the retention limits and keeps shared blobs', async () => {
    const store = await storeOf(first, second)
    const summary = await publish(third.directory, store, {
      retention: { generations: 1, age: 0 },
      protectedFor: -1,
    })
    expect(summary).toMatchObject({ generations: [third.id, second.id], pruned: { generations: [first.id] } })
    expect(summary.pruned.blobs).toBeGreaterThan(0)
    expect(await generationsIn(store)).toEqual([third.id, second.id].toSorted())
    expect((await rowsOf(store)).map(({ id }) => id)).toEqual([third.id, second.id])
    expect(await readFile(join(store.place, currentKey), 'utf8')).not.toContain('deletions')
    expect(await faultsOf(store)).toEqual([])
  })

  test('keeps unreferenced blobs for 24 hours', async () => {
    const store = await storeOf(first, second)
    const before = await keysIn(store, 'blobs/')
    const summary = await publish(third.directory, store, { retention: { generations: 0, age: 0 } })
    expect(summary.pruned).toEqual({ generations: [first.id, second.id].toSorted(), blobs: 0, bytes: 0 })
    expect(await keysIn(store, 'blobs/')).toEqual(expect.arrayContaining([...before]))
  })

  test('warns if the size limit is too small for the current build and the one before, and keeps both', async () => {
    const store = await storeOf(first, second)
    const { generations, warnings } = await publish(third.directory, store, { retention: { bytes: 10 } })
    expect(generations).toEqual([third.id, second.id])
    expect(warnings).toEqual([expect.stringContaining('Only these two are kept')])
  })

  test('predicts the publish in a dry run without writing', async () => {
    const store = await storeOf(first, second)
    const before = await keysIn(store, '')
    const options = { retention: { generations: 0, age: 0 }, protectedFor: -1, makesDeltas: false }
    const foretold = await publish(third.directory, store, { ...options, isDryRun: true })
    expect(await keysIn(store, '')).toEqual(before)
    expect((await rowsOf(store))[0]?.id).toBe(second.id)
    const { requests, milliseconds, ...done } = await publish(third.directory, store, options)
    expect(foretold).toMatchObject({ ...done, isDryRun: true, generations: [third.id] })
    expect([requests, milliseconds].every((number) => number > 0)).toBe(true)
    expect(await publish(first.directory, await storeOf(), { isDryRun: true })).toMatchObject({
      new: { files: 5 },
    })
  })

  test('resends a blob with another size, and with isVerified a blob with other bytes', async () => {
    const store = await storeOf(first)
    const [cut, changed] = (await manifestOf(first.directory)).files.map(({ sha256 }) => blobKey(sha256))
    if (cut === undefined || changed === undefined) throw new Error('the build has several files')
    await writeFile(join(store.place, cut), 'cut')
    const { size } = await stat(join(store.place, changed))
    await writeFile(join(store.place, changed), Buffer.alloc(size))
    expect(await publish(first.directory, store)).toMatchObject({ new: { blobs: 1 } })
    expect(await faultsOf(store)).toHaveLength(1)
    expect(await publish(first.directory, store, { isVerified: true })).toMatchObject({ new: { blobs: 1 } })
    expect(await faultsOf(store)).toEqual([])
  })

  test('rewrites an unreadable manifest', async () => {
    const store = await storeOf(first, second)
    await store.put(await keyOf(store, generationKey(second.id)), Buffer.from('{'))
    await publish(second.directory, store)
    expect(await faultsOf(store)).toEqual([])
  })

  test.each<[string, (text: string) => string]>([
    ['another media type', (text) => text.replace('text/html', 'text/plain')],
    ['a renamed asset', (text) => text.replaceAll('vendor.js', 'vendor2.js')],
  ])('replaces a manifest that was damaged: %s', async (_what, damage) => {
    const store = await storeOf(first, second)
    const key = await keyOf(store, generationKey(second.id))
    const text = (await textAt(store, key)) ?? ''
    expect(damage(text)).not.toBe(text)
    await store.put(key, Buffer.from(damage(text)))
    await expectRefusal(readGeneration(store, second.id), 'SD_STORE_INVALID', /does not match its digest/)
    await publish(second.directory, store, { isForced: true, isVerified: true })
    expect(await textAt(store, await keyOf(store, generationKey(second.id)))).toBe(text)
    expect((await readGeneration(store, second.id)).buildId).toBe(second.id)
  })

  test('keeps the manifest of a build that was built again at another time', async () => {
    const store = await storeOf(first)
    const key = await keyOf(store, generationKey(first.id))
    const directory = join(await temporaryDirectory(), 'dist')
    await cp(first.directory, directory, { recursive: true })
    const file = join(directory, manifestPath)
    const text = await readFile(file, 'utf8')
    await writeFile(
      file,
      text.replaceAll(/"lastModified": ?"\d{4}/g, (time) => `${time.slice(0, -4)}2001`),
    )
    expect(await readFile(file, 'utf8')).not.toBe(text)
    expect(await publish(directory, store)).toMatchObject({ wasCurrent: true })
    expect(await keyOf(store, generationKey(first.id))).toBe(key)
  })

  test('records the digest of a manifest in a store of version 1', async () => {
    const store = await storeOf(first)
    const rows = await rowsOf(store)
    const text = (await textAt(store, await keyOf(store, generationKey(first.id)))) ?? ''
    await store.put(generationKey(first.id), Buffer.from(text.replace('text/html', 'text/plain')))
    await store.put(currentKey, Buffer.from(`{"version":1,"history":${JSON.stringify(rows)}}`))
    expect(await publish(first.directory, store)).toMatchObject({ wasCurrent: true })
    expect(await textAt(store, await keyOf(store, generationKey(first.id)))).toBe(text)
    expect(await faultsOf(store)).toEqual([])
  })

  test('deletes no blob if the manifest of a kept build is unreadable', async () => {
    const store = await storeOf(first, second)
    await store.put(await keyOf(store, generationKey(first.id)), Buffer.from('{'))
    const before = await keysIn(store, 'blobs/')
    const { warnings } = await publish(third.directory, store, { protectedFor: -1 })
    expect(warnings).toEqual([expect.stringContaining('no blob was pruned')])
    expect(await keysIn(store, 'blobs/')).toEqual(expect.arrayContaining([...before]))
  })

  test('drops a build whose manifest is missing, with a warning', async () => {
    const store = await storeOf(first, second)
    await store.delete(await keyOf(store, generationKey(first.id)))
    const { warnings, generations } = await publish(third.directory, store)
    expect(warnings).toEqual([expect.stringContaining(shortId(first.id))])
    expect(generations).toEqual([third.id, second.id])
  })

  test('accepts unusual names, empty files and equal files', async () => {
    const build = await makeBuild({
      'index.html': '<!doctype html>',
      'a b#c%20d.txt': 'one',
      'naïve/日本.txt': 'one',
      'copy.txt': 'one',
      'empty.txt': '',
      'large.bin': Buffer.alloc(3_000_000, 'large '),
    })
    const store = await storeOf(build)
    expect(await differences(store, build)).toEqual([])
    expect(await faultsOf(store)).toEqual([])
  })

  test('rejects a folder without a manifest or with an unfinished build, and gives the fix', async () => {
    const store = await storeOf()
    const bare = await writeFixture({ 'index.html': 'page' })
    await expectRefusal(publish(bare, store), 'SD_MANIFEST_MISSING', 'serve-dist compress')
    await expect(publish(join(bare, 'none'), store)).rejects.toMatchObject({ code: 'SD_BUILD_NOT_FOUND' })
    const { directory } = await makeVersion(9)
    await writeFile(join(directory, pendingPath), '{}')
    await expect(publish(directory, store)).rejects.toMatchObject({ code: 'SD_BUILD_UNFINISHED' })
    expect(await keysIn(store, '')).toEqual([])
  })

  test('sends nothing if files are missing or have other sizes, and names each', async () => {
    const store = await storeOf()
    const { directory } = await makeVersion(9)
    await rm(join(directory, 'photo.png'))
    await appendFile(join(directory, 'assets/vendor.js'), '//')
    await expectRefusal(
      publish(directory, store),
      'SD_MANIFEST_MISMATCH',
      /2 files.*vendor\.js: has .* bytes.*photo\.png: is missing/s,
    )
    expect(await keysIn(store, '')).toEqual([])
  })

  test.each(['photo.png', 'large.bin'])('names the changed file %s and writes no manifest', async (name) => {
    const store = await storeOf()
    const { directory } = await makeVersion(9, { 'large.bin': Buffer.alloc(3_000_000, 'a') })
    const { size } = await stat(join(directory, name))
    await writeFile(join(directory, name), Buffer.alloc(size, 'x'))
    await expectRefusal(publish(directory, store), 'SD_MANIFEST_MISMATCH', name)
    expect(await keysIn(store, 'generations/')).toEqual([])
    const digests = (await manifestOf(directory)).files.filter(({ path }) => path === name)
    const there = await keysIn(store, 'blobs/')
    expect(digests.map(({ sha256 }) => there.includes(blobKey(sha256)))).toEqual([false])
  })

  test('leaves out the environment module, which the server generates', async () => {
    const environment = { path: 'environment.js', prefix: '', variables: {} }
    const files = { 'index.html': 'page', 'copy.html': 'page', 'environment.js': 'export default {}' }
    const directory = await buildFixture(files, { environment })
    await writeFile(join(directory, 'environment.js'), 'export default { changed: true }')
    const store = await storeOf()
    expect(await publish(directory, store)).toMatchObject({ files: 3, new: { files: 2, blobs: 1 } })
    expect(await listGenerations(store)).toMatchObject([{ files: 3 }])
  })

  test('reports a concurrent publish, unless it is forced or has the same build', async () => {
    const store = await storeOf(first)
    const between = (build: MadeBuild): StoreBackend =>
      beforePut(store, '', async () => await publish(build.directory, store))
    await expectRefusal(publish(second.directory, between(third)), 'SD_STORE_CONFLICT', shortId(third.id))
    expect((await rowsOf(store)).map(({ id }) => id)).toEqual([third.id, first.id])
    await publish(second.directory, between(first), { isForced: true })
    expect((await rowsOf(store)).map(({ id }) => id)).toEqual([second.id, first.id, third.id, first.id])
    await publish(third.directory, between(third))
    expect((await rowsOf(store))[0]).toMatchObject({ number: 5, id: third.id })
    expect(await faultsOf(store)).toEqual([])
  })

  test('lets one of two concurrent publishes win, and the other one fails', async () => {
    for (let round = 0; round < 10; round += 1) {
      const store = await storeOf(first)
      const outcomes = await Promise.allSettled(
        [second, third].map(async ({ directory }) => await publish(directory, store)),
      )
      const told = outcomes.filter(({ status }) => status === 'rejected')
      // One publish may have started after the other had ended.
      expect((await rowsOf(store)).length).toBe(3 - told.length)
      for (const outcome of told) expect(outcome).toMatchObject({ reason: { code: 'SD_STORE_CONFLICT' } })
      for (const { id } of await rowsOf(store)) {
        const build = [first, second, third].find((other) => other.id === id)
        expect(build && (await differences(store, build))).toEqual([])
      }
    }
  })

  test('rejects an endpoint without conditional writes, like all changes, unless there is only one publisher', async () => {
    const store: StoreBackend = { ...(await storeOf(first)), honoursConditions: async () => false }
    await expectRefusal(publish(second.directory, store), 'SD_STORE_UNCONDITIONAL', '--single-publisher')
    const alone = { isSinglePublisher: true }
    expect(await publish(second.directory, store, alone)).toMatchObject({ replaced: first.id })
    for (const change of [
      async (options: ChangeOptions) => await rollback(store, options),
      async (options: ChangeOptions) => await prune(store, {}, options),
      async (options: ChangeOptions) => await purge(store, second.id, options),
    ]) {
      await expect(change({})).rejects.toMatchObject({ code: 'SD_STORE_UNCONDITIONAL' })
      await change(alone)
    }
  })

  test('succeeds with a warning if old builds cannot be deleted', async () => {
    const store: StoreBackend = {
      ...(await storeOf(first, second)),
      delete: async () => await Promise.reject(new Error('no permission')),
    }
    const summary = await publish(third.directory, store, { retention: { generations: 0, age: 0 } })
    expect(summary).toMatchObject({ id: third.id, pruned: { generations: [], blobs: 0 } })
    expect(summary.warnings).toEqual([expect.stringContaining('no permission')])
    expect((await rowsOf(store)).map(({ id }) => id)).toEqual([third.id])
    expect(await rollback(store).catch((error: unknown) => error)).toMatchObject({
      code: 'SD_GENERATION_MISSING',
    })
  })

  test.each([
    ['concurrency: ', { concurrency: 0 }],
    ['concurrency: ', { concurrency: Number.NaN }],
    ['retention.generations: ', { retention: { generations: Number.NaN } }],
    ['retention.age: ', { retention: { age: -1 } }],
  ])('rejects invalid options: %s%j', async (name, options) => {
    const store = await storeOf(first, second)
    const refused = { code: 'SD_OPTION_INVALID', message: expect.stringContaining(name) }
    await expect(publish(third.directory, store, options)).rejects.toMatchObject(refused)
    expect((await rowsOf(store)).map(({ id }) => id)).toEqual([second.id, first.id])
  })

  test('rejects a store inside the folder of the build', async () => {
    const { directory } = await makeVersion(9)
    for (const place of [directory, join(directory, 'store')]) {
      await expectRefusal(
        publish(directory, await openStore(place)),
        'SD_OPTION_INVALID',
        'The next build deletes it',
      )
    }
    expect(await publish(directory, await openStore(`${directory}-store/`))).toMatchObject({
      isDryRun: false,
    })
    await rm(`${directory}-store`, { recursive: true })
  })

  test('rejects an edited manifest with the id of another build', async () => {
    const store = await storeOf(first)
    const { directory, id } = await makeVersion(9)
    const file = join(directory, manifestPath)
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace(id, first.id))
    await expect(publish(directory, store)).rejects.toMatchObject({ code: 'SD_MANIFEST_MISMATCH' })
    expect(await differences(store, first)).toEqual([])
  })

  test('stops when the signal aborts, and keeps the current build', async () => {
    const store = await storeOf(first)
    const stopped = AbortSignal.abort()
    await expect(publish(second.directory, store, { signal: stopped })).rejects.toBe(stopped.reason)
    expect((await rowsOf(store)).map(({ id }) => id)).toEqual([first.id])
  })
})
