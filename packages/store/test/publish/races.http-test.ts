import { afterAll, describe, expect, test, vi } from 'vitest'
import type { StoreBackend } from '../../src/backend.ts'
import { readHeadAfterDeletion } from '../../src/history/swap-history.ts'
import { prune, publish } from '../../src/index.ts'
import { currentKey, layoutVersion, stringifyHistory } from '../../src/layout.ts'
import { observeStore } from '../../src/observe-store.ts'
import { makeVersions } from '../support/make-builds.ts'
import { beforePut, startBackends } from '../support/open-stores.ts'
import { differences, faultsOf } from '../support/read-store.ts'

// Interleavings that the seeded tests hit too rarely.

const { backends, stop } = await startBackends()
afterAll(stop)

const [first, second] = await makeVersions()

/** The times of a bucket are in whole seconds. */
const eager = { protectedFor: -60_000 }

/**
 * A process that deletes when the test permits it. Its clock stands still, as for a process that is faster than a
 * second.
 */
interface Deleter {
  readonly store: StoreBackend
  /** Resolves when the process is about to delete. */
  readonly isDeleting: Promise<'deletes'>
  /** Resolves when the process, whose swap failed, waits for other deletions. */
  readonly isWaiting: Promise<'waits'>
  readonly release: () => void
}

function deleterOf(store: StoreBackend, time: number): Deleter {
  const [asked, allowed, looked] = [latch(), latch(), latch()]
  let looksLeft = Number.POSITIVE_INFINITY
  return {
    isDeleting: asked.opened.then(() => 'deletes'),
    isWaiting: looked.opened.then(() => 'waits'),
    release: allowed.open,
    store: {
      ...store,
      async read(key, options) {
        const object = await store.read(key, options)
        looksLeft -= 1
        if (looksLeft === 0) looked.open()
        return typeof object === 'object' ? { ...object, time } : object
      },
      async put(key, content, options) {
        const written = await store.put(key, content, options)
        // The first read checks whether the process's own swap succeeded.
        if (written === 'conflict') looksLeft = 2
        return written
      },
      async delete(key) {
        asked.open()
        await allowed.opened
        await store.delete(key)
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

  test('the wait for a deletion ends although the announced time is wrong', async () => {
    const { store } = await backend.open()
    const deletesUntil = '2999-01-01T00:00:00Z'
    await store.put(
      currentKey,
      Buffer.from(stringifyHistory({ version: layoutVersion, deletesUntil, history: [] })),
    )
    const read = vi.spyOn(store, 'read')
    const { history } = await readHeadAfterDeletion(observeStore(store), {}, 300)
    expect(history).toMatchObject({ deletesUntil })
    expect(read.mock.calls.length).toBeGreaterThan(1)
  })

  test('only one of two prunes in the same second deletes at a time', async () => {
    const store = await prepare()
    const time = Date.now() + 120_000
    const [one, other] = [deleterOf(store, time), deleterOf(store, time)]
    let pruned: Promise<unknown> | undefined
    const late = beforePut(other.store, currentKey, async () => {
      pruned = prune(one.store, {}, eager)
      await one.isDeleting
    })
    const prunedLate = prune(late, {}, eager)
    expect(await Promise.race([other.isDeleting, other.isWaiting])).toBe('waits')
    one.release()
    await pruned
    // The other process may delete now. Either the publish waits for it, or it waits for the publish.
    other.release()
    await Promise.all([publish(second.directory, store), prunedLate])
    expect(await faultsOf(store)).toEqual([])
    expect(await differences(store, second)).toEqual([])
  })
})
