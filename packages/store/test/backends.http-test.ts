import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { afterAll, describe, expect, test } from 'vitest'
import { temporaryDirectory } from '../../server/test/support/temporary-directory.ts'
import type { StoreBackend } from '../src/backend.ts'
import { fetchBlob } from '../src/index.ts'
import { startBackends } from './support/open-stores.ts'
import { keysIn, objectAt } from './support/read-store.ts'

const { backends, stop } = await startBackends()
afterAll(stop)

describe.each(backends)('a store in $name', (backend) => {
  const open = async (): Promise<StoreBackend> => (await backend.open()).store

  test('reads an object with its size and time', async () => {
    const store = await open()
    const began = Date.now()
    const written = await store.put('blobs/one', Buffer.from('one'))
    expect(written).not.toBe('conflict')
    const object = await objectAt(store, 'blobs/one')
    expect(object).toMatchObject({ size: 3, version: versionOf(written) })
    expect(await text(object.body)).toBe('one')
    expect(Math.abs(object.time - began)).toBeLessThan(10_000)
  })

  test('writes an object from a source that it opens', async () => {
    const store = await open()
    const bytes = randomBytes(3_000_000)
    await store.put('blobs/large', { size: bytes.length, open: () => Readable.from([bytes]) })
    expect(bytes.equals(await buffer((await objectAt(store, 'blobs/large')).body))).toBe(true)
  })

  test('finds no object under an unused or deleted key', async () => {
    const store = await open()
    expect(await store.read('blobs/none')).toBeUndefined()
    await store.put('blobs/gone', Buffer.from('x'))
    await store.delete('blobs/gone')
    await store.delete('blobs/gone')
    expect(await store.read('blobs/gone')).toBeUndefined()
    expect(await keysIn(store, '')).toEqual([])
  })

  test('reports an unchanged version', async () => {
    const store = await open()
    const first = await store.put('current.json', Buffer.from('1'))
    expect(await store.read('current.json', { unless: versionOf(first) })).toBe('unchanged')
    await store.put('current.json', Buffer.from('2'))
    const second = await objectAt(store, 'current.json', { unless: versionOf(first) })
    expect(await text(second.body)).toBe('2')
  })

  test('lists the keys with a prefix', async () => {
    const store = await open()
    await Promise.all(
      ['blobs/aa', 'blobs/ab', 'generations/a.json', 'current.json'].map(
        async (key) => await store.put(key, Buffer.from(key)),
      ),
    )
    expect(await keysIn(store, 'blobs/')).toEqual(['blobs/aa', 'blobs/ab'])
    expect(await keysIn(store, 'blobs/ab')).toEqual(['blobs/ab'])
    expect(await keysIn(store, '')).toEqual(['blobs/aa', 'blobs/ab', 'current.json', 'generations/a.json'])
    for await (const { size, modified } of store.list('generations/')) {
      expect(size).toBe(18)
      expect(Math.abs(modified - Date.now())).toBeLessThan(10_000)
    }
  })

  test('replaces only the given version', async () => {
    const store = await open()
    expect(await store.put('current.json', Buffer.from('0'), { replaces: 'other' })).toBe('conflict')
    const first = await store.put('current.json', Buffer.from('1'), { replaces: null })
    expect(await store.put('current.json', Buffer.from('x'), { replaces: null })).toBe('conflict')
    const second = await store.put('current.json', Buffer.from('2'), { replaces: versionOf(first) })
    expect(await store.put('current.json', Buffer.from('x'), { replaces: versionOf(first) })).toBe('conflict')
    const object = await objectAt(store, 'current.json')
    expect(object.version).toBe(versionOf(second))
    expect(await text(object.body)).toBe('2')
  })

  test('lets one of 8 concurrent writers win', async () => {
    const store = await open()
    let version = versionOf(await store.put('current.json', Buffer.from('start'), { replaces: null }))
    for (let round = 0; round < 5; round += 1) {
      const outcomes = await Promise.all(
        Array.from(
          { length: 8 },
          async (_, writer) =>
            await store.put('current.json', Buffer.from(`${round} ${writer}`), { replaces: version }),
        ),
      )
      const winners = outcomes.flatMap((outcome, writer) =>
        outcome === 'conflict' ? [] : [{ outcome, writer }],
      )
      expect(winners).toHaveLength(1)
      const object = await objectAt(store, 'current.json')
      expect(await text(object.body)).toBe(`${round} ${winners[0]?.writer}`)
      version = object.version
    }
  })

  test('supports conditional writes', async () => {
    const store = await open()
    expect(await store.honoursConditions()).toBe(true)
    expect(await keysIn(store, '')).toEqual([])
  })

  test('rejects keys that lead out of the store', async () => {
    const store = await open()
    for (const key of ['../out', 'blobs/../../out', '/etc/passwd', '.lock', 'a//b', '']) {
      await expect(store.read(key)).rejects.toThrow(TypeError)
      await expect(store.put(key, Buffer.from('x'))).rejects.toThrow(TypeError)
      await expect(store.delete(key)).rejects.toThrow(TypeError)
    }
  })

  test('stops when the signal aborts', async () => {
    const store = await open()
    await store.put('blobs/large', randomBytes(2_000_000))
    await expect(store.put('blobs/x', Buffer.from('x'), { signal: AbortSignal.abort() })).rejects.toThrow(
      'abort',
    )
    const controller = new AbortController()
    const object = await objectAt(store, 'blobs/large', { signal: controller.signal })
    controller.abort()
    await expect(buffer(object.body)).rejects.toThrow('abort')
    expect(await keysIn(store, '')).toEqual(['blobs/large'])
  })

  test('downloads a blob to a file and rejects content that does not match its digest', async () => {
    const { store, folder } = await backend.open()
    const bytes = randomBytes(600_000)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const blob = { sha256, size: bytes.length }
    const to = join(await temporaryDirectory(), 'blob')
    expect(await fetchBlob(store, blob, to)).toBe('missing')
    await store.put(`blobs/${sha256}`, bytes)
    expect(await fetchBlob(store, blob, to)).toBe('fetched')
    expect(bytes.equals(await readFile(to))).toBe(true)
    await writeFile(join(folder, 'blobs', sha256), bytes.subarray(1))
    await expect(fetchBlob(store, blob, to)).rejects.toMatchObject({ code: 'SD_STORE_INVALID' })
  })

  test.each([
    ['other', Buffer.from('other')],
    ['fewer', Buffer.from('byt')],
    ['more', Buffer.from('bytes and bytes')],
  ])('does not write a blob with %s bytes than expected', async (_what, bytes) => {
    const store = await open()
    const key = `blobs/${createHash('sha256').update('bytes').digest('hex')}`
    const content = { size: 5, open: () => Readable.from([bytes]) }
    await expect(store.put(key, content)).rejects.toMatchObject({ code: 'SD_BUILD_CHANGED' })
    expect(await keysIn(store, '')).toEqual([])
  })

  test('reports why the source of an object cannot be read', async () => {
    const store = await open()
    const content = { size: 5, open: () => createReadStream('/nowhere/at/all') }
    await expect(store.put('blobs/x', content)).rejects.toThrow(
      /^blobs\/x: cannot read the source file.*ENOENT.*nowhere/,
    )
    expect(await keysIn(store, '')).toEqual([])
  })
})

function versionOf(outcome: Awaited<ReturnType<StoreBackend['put']>>): string {
  if (outcome === 'conflict') throw new Error('unexpected conflict')
  return outcome.version
}
