import { createHash } from 'node:crypto'
import { shortId } from '@serve-dist/foundation/text/short-id'
import { describe, expect, test } from 'vitest'
import type { StoreBackend } from '../../src/backend.ts'
import { type ChangeOptions, listGenerations, prune, publish, purge, rollback } from '../../src/index.ts'
import { blobKey, generationKey } from '../../src/layout.ts'
import { makeVersion, makeVersions } from '../support/make-builds.ts'
import { storeOf } from '../support/open-stores.ts'
import {
  differences,
  faultsOf,
  generationsIn,
  keyOf,
  keysIn,
  manifestOf,
  rowsOf,
  unnamedIn,
} from '../support/read-store.ts'
import { expectRefusal } from '../../../server/test/support/expect-refusal.ts'

const builds = await makeVersions()
const [first, second, third] = builds

describe('rollback', () => {
  test('restores the previous build, then an earlier one, and sends no blob', async () => {
    const store = await storeOf(...builds)
    const blobs = await keysIn(store, 'blobs/')
    expect(await rollback(store)).toMatchObject({ id: second.id, replaced: third.id, isDryRun: false })
    expect(await rollback(store)).toMatchObject({ id: first.id, replaced: second.id })
    await expectRefusal(
      rollback(store),
      'SD_GENERATION_MISSING',
      `no build from before ${shortId(first.id)} is left. Choose a later build that serve-dist generations lists: serve-dist rollback <id>. Or publish`,
    )
    expect((await rowsOf(store)).map(({ id, restores }) => [id, restores])).toEqual([
      [first.id, 1],
      [second.id, 2],
      [third.id, undefined],
      [second.id, undefined],
      [first.id, undefined],
    ])
    expect(await keysIn(store, 'blobs/')).toEqual(blobs)
  })

  test('names no other build if the store has only one', async () => {
    const store = await storeOf(first)
    await expectRefusal(rollback(store), 'SD_GENERATION_MISSING', 'is left. Publish the build that you need.')
  })

  test('restores every file of the oldest build, including pages', async () => {
    const store = await storeOf()
    const many = await Promise.all(
      Array.from({ length: 8 }, async (_, index) => await makeVersion(index + 10)),
    )
    for (const { directory } of many) {
      await publish(directory, store, { retention: { generations: 5, age: 0 }, protectedFor: -1 })
    }
    const kept = await listGenerations(store)
    const oldest = kept.at(-1)
    expect([kept.length, oldest?.id]).toEqual([6, many[2]?.id])
    await rollback(store, { to: oldest?.id })
    for (const build of many.slice(2)) expect(await differences(store, build)).toEqual([])
    expect((await rowsOf(store))[0]?.id).toBe(many[2]?.id)
  })

  test('restores the given build by its id or a prefix, even a later one', async () => {
    const store = await storeOf(...builds)
    expect(await rollback(store, { to: first.id.slice(0, 8) })).toMatchObject({ id: first.id })
    expect(await rollback(store, { to: third.id })).toMatchObject({ id: third.id, replaced: first.id })
    expect(await rollback(store, { to: third.id })).not.toHaveProperty('replaced')
    await expectRefusal(
      rollback(store, { to: 'ffffffffffffffff' }),
      'SD_GENERATION_MISSING',
      shortId(third.id),
    )
  })

  test('rejects a build with missing files', async () => {
    const store = await storeOf(...builds)
    const [{ sha256 } = { sha256: '' }] = (await manifestOf(second.directory)).files
    await store.delete(blobKey(sha256))
    await expect(rollback(store)).rejects.toMatchObject({ code: 'SD_STORE_INVALID' })
    expect((await rowsOf(store))[0]?.id).toBe(third.id)
  })
})

describe('purge', () => {
  test('deletes a build immediately and keeps the blobs of other builds', async () => {
    const store = await storeOf(...builds)
    const own = (await manifestOf(second.directory)).files.filter(({ path }) => /app-|index/.test(path))
    const summary = await purge(store, second.id)
    expect(summary).toMatchObject({ id: second.id, generations: [second.id], rows: [{ number: 2 }] })
    expect(summary.sharedBlobs).toBeGreaterThan(0)
    const there = await keysIn(store, 'blobs/')
    expect(own.filter(({ sha256 }) => there.includes(blobKey(sha256)))).toEqual([])
    expect(await generationsIn(store)).toEqual([first.id, third.id].toSorted())
    expect((await rowsOf(store)).map(({ id }) => id)).toEqual([third.id, first.id])
    expect(await faultsOf(store)).toEqual([])
  })

  test('rejects the current build and gives the fix', async () => {
    const store = await storeOf(...builds)
    await expectRefusal(purge(store, third.id), 'SD_OPTION_INVALID', 'Roll back')
    await rollback(store)
    await purge(store, third.id)
    expect((await rowsOf(store)).map(({ id }) => id)).toEqual([second.id, second.id, first.id])
    expect(await faultsOf(store)).toEqual([])
  })

  test('reports incomplete deletions, and a second purge completes them', async () => {
    const store = await storeOf(...builds)
    let deletions = 0
    const failing: StoreBackend = {
      ...store,
      delete: async (key) => {
        deletions += 1
        if (deletions > 2) throw new Error('no permission')
        await store.delete(key)
      },
    }
    await expect(purge(failing, first.id, { concurrency: 1 })).rejects.toMatchObject({
      code: 'SD_STORE_UNAVAILABLE',
    })
    await purge(store, first.id)
    expect(await unnamedIn(store)).toEqual([])
    expect(await faultsOf(store)).toEqual([])
    expect(await generationsIn(store)).toEqual([second.id, third.id].toSorted())
  })
})

describe('prune', () => {
  test('deletes builds beyond the retention limits and the objects of a killed publish', async () => {
    const store = await storeOf(...builds)
    const orphan = blobKey(createHash('sha256').update('x').digest('hex'))
    await store.put(orphan, Buffer.from('x'))
    expect(await prune(store, { generations: 1, age: 0 })).toMatchObject({
      generations: [first.id],
      kept: [third.id, second.id],
      blobs: 0,
    })
    expect(await keysIn(store, 'blobs/')).toContain(orphan)
    const summary = await prune(store, { generations: 1, age: 0 }, { protectedFor: -1 })
    expect(summary).toMatchObject({ generations: [], isDryRun: false, warnings: [] })
    expect(summary.blobs).toBeGreaterThan(1)
    expect(await keysIn(store, 'blobs/')).not.toContain(orphan)
    expect(await faultsOf(store)).toEqual([])
  })

  test('never deletes the current build', async () => {
    const store = await storeOf(first)
    await prune(store, { generations: 0, age: 0, bytes: 0 }, { protectedFor: -1 })
    expect(await differences(store, first)).toEqual([])
    expect(await prune(await storeOf(), {}, {})).toMatchObject({ kept: [] })
  })
})

test.each<[string, (store: StoreBackend, options: ChangeOptions) => Promise<{ readonly requests: number }>]>([
  ['rollback', rollback],
  ['purge', async (store, options) => await purge(store, first.id, options)],
  ['prune', async (store, options) => await prune(store, { generations: 0, age: 0 }, options)],
])('a dry run of a %s predicts the result without changes', async (_what, change) => {
  const store = await storeOf(...builds)
  const [keys, rows] = [await keysIn(store, ''), await rowsOf(store)]
  const { requests, ...foretold } = await change(store, { isDryRun: true, protectedFor: -1 })
  expect([await keysIn(store, ''), await rowsOf(store), requests > 0]).toEqual([keys, rows, true])
  expect(foretold).toMatchObject({ isDryRun: true })
  expect(await change(store, { protectedFor: -1 })).toMatchObject({ ...foretold, isDryRun: false })
})

describe('listGenerations', () => {
  test('returns each build once, the current one first', async () => {
    const store = await storeOf(...builds)
    await rollback(store, { to: first.id })
    const [current, ...others] = await listGenerations(store)
    expect(current).toMatchObject({ id: first.id, isCurrent: true, isRestored: true, files: 5 })
    const [restored] = await rowsOf(store)
    expect(current?.restored).toBe(restored?.published)
    expect(current).not.toHaveProperty('superseded')
    expect(others.map(({ id, isCurrent, isRestored }) => [id, isCurrent, isRestored])).toEqual([
      [third.id, false, false],
      [second.id, false, false],
    ])
    for (const { bytes, ownBytes, superseded } of others) {
      expect(bytes).toBeGreaterThan(ownBytes)
      expect(ownBytes).toBeGreaterThan(0)
      expect(superseded).toBeDefined()
    }
  })

  test('marks builds that cannot be served, and is empty for an empty store', async () => {
    const store = await storeOf(...builds)
    await store.delete(await keyOf(store, generationKey(second.id)))
    const found = await listGenerations(store)
    expect(found.map(({ problem }) => problem)).toEqual([
      undefined,
      'the store does not have its manifest',
      undefined,
    ])
    expect(await listGenerations(await storeOf())).toEqual([])
  })
})
