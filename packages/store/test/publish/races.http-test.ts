import { afterAll, describe, expect, test } from 'vitest'
import type { StoreBackend } from '../../src/backend.ts'
import { prune, publish, purge } from '../../src/index.ts'
import { currentKey } from '../../src/layout.ts'
import { makeVersions } from '../support/make-builds.ts'
import { beforePut, startBackends } from '../support/open-stores.ts'
import { differences, faultsOf, historyOf, unnamedIn } from '../support/read-store.ts'

// Interleavings that the seeded tests hit too rarely.

const { backends, stop } = await startBackends()
afterAll(stop)

const [first, second] = await makeVersions()

/** The times of a bucket are in whole seconds. */
const eager = { protectedFor: -60_000 }

/** A process that was suspended when its deletions were queued. */
interface SuspendedProcess {
  readonly store: StoreBackend
  /** Resolves when the process is about to delete. */
  readonly isDeleting: Promise<void>
  readonly resume: () => void
}

function suspendDeletions(store: StoreBackend): SuspendedProcess {
  const [asked, resumed] = [latch(), latch()]
  return {
    isDeleting: asked.opened,
    resume: resumed.open,
    store: {
      ...store,
      async delete(key) {
        asked.open()
        await resumed.opened
        return await store.delete(key)
      },
    },
  }
}

function latch(): { readonly opened: Promise<void>; readonly open: () => void } {
  const latched = new AbortController()
  const opened = new Promise<void>((resolve) => {
    latched.signal.addEventListener('abort', () => resolve())
  })
  return { opened, open: () => latched.abort() }
}

describe.each(backends)('in $name', (backend) => {
  /** Creates a store with one build and unreferenced blobs of another. */
  const prepare = async (): Promise<StoreBackend> => {
    const { store } = await backend.open()
    const dying = beforePut(store, currentKey, async () => await Promise.reject(new Error('killed')))
    await publish(first.directory, store)
    await expect(publish(second.directory, dying)).rejects.toThrow('killed')
    return store
  }

  test('a publish detects a completed prune that did not change the rows of the history', async () => {
    const store = await prepare()
    await prune(store, {}, eager)
    const racing = beforePut(store, currentKey, async () => {
      const { blobs } = await prune(store, {}, eager)
      expect(blobs).toBeGreaterThan(0)
    })
    await publish(second.directory, racing)
    expect(await faultsOf(store)).toEqual([])
    expect(await differences(store, second)).toEqual([])
  })

  test.each<[string, (store: StoreBackend) => Promise<unknown>]>([
    ['prune', async (store) => await prune(store, { generations: 0, age: 0 }, eager)],
    ['purge', async (store) => await purge(store, second.id)],
  ])('a publish neither waits for a suspended %s nor relies on its objects', async (_what, remove) => {
    const store = await prepare()
    await publish(second.directory, store)
    await publish(first.directory, store)
    const suspended = suspendDeletions(store)
    const removed = remove(suspended.store)
    await suspended.isDeleting
    await publish(second.directory, store)
    expect(await differences(store, second)).toEqual([])
    suspended.resume()
    await removed
    expect(await faultsOf(store)).toEqual([])
    expect(await differences(store, second)).toEqual([])
  })

  test('a publish continues if a deletion ends between its reads of the history and of the deleted keys', async () => {
    const store = await prepare()
    const suspended = suspendDeletions(store)
    const pruned = prune(suspended.store, {}, eager)
    await suspended.isDeleting
    const racing: StoreBackend = {
      ...store,
      async read(key, options) {
        if (key.startsWith('deletions/')) {
          suspended.resume()
          await pruned
        }
        return await store.read(key, options)
      },
    }
    await publish(second.directory, racing)
    expect(await differences(store, second)).toEqual([])
    expect(await faultsOf(store)).toEqual([])
  })

  test('a deletion stays in the history if the response to its swap was lost and another process changed it', async () => {
    const store = await prepare()
    let isLost = false
    const lossy: StoreBackend = {
      ...store,
      async put(key, content, options) {
        const written = await store.put(key, content, options)
        if (key !== currentKey || isLost) return written
        isLost = true
        await publish(first.directory, store)
        await publish(second.directory, store)
        // A retry of the same write.
        return await store.put(key, content, options)
      },
    }
    await prune(lossy, {}, eager)
    await publish(first.directory, store)
    expect(await faultsOf(store)).toEqual([])
    expect(await differences(store, second)).toEqual([])
  })

  test('deletions of killed processes are merged, and their keys are never used again', async () => {
    const { store } = await backend.open()
    await publish(first.directory, store)
    const dying: StoreBackend = { ...store, delete: async () => await Promise.reject(new Error('killed')) }
    for (let round = 0; round < 12; round += 1) {
      await publish(second.directory, store)
      await publish(first.directory, store)
      await expect(purge(dying, second.id)).rejects.toThrow('killed')
    }
    const { deletions = [], suffixes = {} } = await historyOf(store)
    expect(deletions.length).toBeLessThanOrEqual(8)
    const summary = await publish(second.directory, store)
    expect(summary.new.blobs).toBeGreaterThan(0)
    expect(Object.keys((await historyOf(store)).suffixes ?? {}).length).toBeGreaterThan(
      Object.keys(suffixes).length,
    )
    expect(await faultsOf(store)).toEqual([])
    await prune(store, {}, eager)
    expect(await unnamedIn(store)).toEqual([])
    expect(await faultsOf(store)).toEqual([])
  })
})
