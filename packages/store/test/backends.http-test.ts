import { createHash, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { afterAll, describe, expect, test } from 'vitest'
import { ensureVersitygw } from '../../../scripts/ensure-versitygw.mjs'
import { temporaryDirectory } from '../../server/test/support/temporary-directory.ts'
import type { StoreBackend } from '../src/backend.ts'
import { fetchBlob, openStore } from '../src/index.ts'
import { openS3Store } from '../src/s3/open-s3-store.ts'
import { type S3Server, s3Settings, startS3 } from './support/start-s3.ts'

const program = await ensureVersitygw()
const s3 = program === undefined ? undefined : await startS3(program)
afterAll(async () => await s3?.stop())

/** A store, and what writes an object past it. */
interface Opened {
  readonly store: StoreBackend
  readonly spoil: (key: string, bytes: Uint8Array) => Promise<unknown>
}

const openFolder = async (): Promise<Opened> => {
  const folder = await temporaryDirectory()
  return {
    store: await openStore(folder),
    spoil: async (key, bytes) => await writeFile(join(folder, key), bytes),
  }
}

const openBucket = (server: S3Server) => async (): Promise<Opened> => {
  const bucket = await server.bucket()
  const settings = s3Settings(server.endpoint, server.root)
  const client = new S3Client(settings)
  return {
    store: await openS3Store(`s3://${bucket}/some/prefix`, settings),
    spoil: async (key, bytes) =>
      await client.send(new PutObjectCommand({ Bucket: bucket, Key: `some/prefix/${key}`, Body: bytes })),
  }
}

const backends = [
  { name: 'a folder', open: openFolder },
  ...(s3 === undefined ? [] : [{ name: 'S3', open: openBucket(s3) }]),
]

describe.each(backends)('a store in $name', ({ open }) => {
  test('gives back what was put, with its size and the time', async () => {
    const { store } = await open()
    const began = Date.now()
    const written = await store.put('blobs/one', Buffer.from('one'))
    expect(written).not.toBe('conflict')
    const object = await opened(store, 'blobs/one')
    expect(object).toMatchObject({ size: 3, version: versionOf(written) })
    expect(await text(object.body)).toBe('one')
    expect(Math.abs(object.time - began)).toBeLessThan(10_000)
  })

  test('puts what is opened when it is written', async () => {
    const { store } = await open()
    const bytes = randomBytes(3_000_000)
    await store.put('blobs/large', { size: bytes.length, open: () => Readable.from([bytes]) })
    expect(bytes.equals(await buffer((await opened(store, 'blobs/large')).body))).toBe(true)
  })

  test('has nothing under a key that was not put, or was deleted', async () => {
    const { store } = await open()
    expect(await store.read('blobs/none')).toBeUndefined()
    await store.put('blobs/gone', Buffer.from('x'))
    await store.delete('blobs/gone')
    await store.delete('blobs/gone')
    expect(await store.read('blobs/gone')).toBeUndefined()
    expect(await keys(store, '')).toEqual([])
  })

  test('says that an object is unchanged to whoever knows its version', async () => {
    const { store } = await open()
    const first = await store.put('current.json', Buffer.from('1'))
    expect(await store.read('current.json', { unless: versionOf(first) })).toBe('unchanged')
    await store.put('current.json', Buffer.from('2'))
    const second = await store.read('current.json', { unless: versionOf(first) })
    expect(second === 'unchanged' || second === undefined ? second : await text(second.body)).toBe('2')
  })

  test('lists the keys that begin so', async () => {
    const { store } = await open()
    await Promise.all(
      ['blobs/aa', 'blobs/ab', 'generations/a.json', 'current.json'].map(
        async (key) => await store.put(key, Buffer.from(key)),
      ),
    )
    expect(await keys(store, 'blobs/')).toEqual(['blobs/aa', 'blobs/ab'])
    expect(await keys(store, 'blobs/ab')).toEqual(['blobs/ab'])
    expect(await keys(store, '')).toEqual(['blobs/aa', 'blobs/ab', 'current.json', 'generations/a.json'])
    for await (const { size, modified } of store.list('generations/')) {
      expect(size).toBe(18)
      expect(Math.abs(modified - Date.now())).toBeLessThan(10_000)
    }
  })

  test('replaces a version, and no other', async () => {
    const { store } = await open()
    expect(await store.put('current.json', Buffer.from('0'), { replaces: 'other' })).toBe('conflict')
    const first = await store.put('current.json', Buffer.from('1'), { replaces: null })
    expect(await store.put('current.json', Buffer.from('x'), { replaces: null })).toBe('conflict')
    const second = await store.put('current.json', Buffer.from('2'), { replaces: versionOf(first) })
    expect(await store.put('current.json', Buffer.from('x'), { replaces: versionOf(first) })).toBe('conflict')
    const object = await opened(store, 'current.json')
    expect(object.version).toBe(versionOf(second))
    expect(await text(object.body)).toBe('2')
  })

  test('has one winner of 8 writers at once', async () => {
    const { store } = await open()
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
      const object = await opened(store, 'current.json')
      expect(await text(object.body)).toBe(`${round} ${winners[0]?.writer}`)
      version = object.version
    }
  })

  test('honours conditions', async () => {
    const { store } = await open()
    expect(await store.honoursConditions()).toBe(true)
    expect(await keys(store, '')).toEqual([])
  })

  test('refuses keys that lead elsewhere', async () => {
    const { store } = await open()
    for (const key of ['../out', 'blobs/../../out', '/etc/passwd', '.lock', 'a//b', '']) {
      await expect(store.read(key)).rejects.toThrow(TypeError)
      await expect(store.put(key, Buffer.from('x'))).rejects.toThrow(TypeError)
      await expect(store.delete(key)).rejects.toThrow(TypeError)
    }
  })

  test('gives up when it is told to', async () => {
    const { store } = await open()
    await store.put('blobs/large', randomBytes(2_000_000))
    await expect(store.put('blobs/x', Buffer.from('x'), { signal: AbortSignal.abort() })).rejects.toThrow(
      'abort',
    )
    const controller = new AbortController()
    const object = await opened(store, 'blobs/large', controller.signal)
    controller.abort()
    await expect(buffer(object.body)).rejects.toThrow('abort')
    expect(await keys(store, '')).toEqual(['blobs/large'])
  })

  test('fetches a blob into a file, and refuses other bytes than its name says', async () => {
    const { store, spoil } = await open()
    const bytes = randomBytes(600_000)
    const sha256 = createHash('sha256').update(bytes).digest('hex')
    const blob = { sha256, size: bytes.length }
    const to = join(await temporaryDirectory(), 'blob')
    expect(await fetchBlob(store, blob, to)).toBe('missing')
    await store.put(`blobs/${sha256}`, bytes)
    expect(await fetchBlob(store, blob, to)).toBe('fetched')
    expect(bytes.equals(await readFile(to))).toBe(true)
    await spoil(`blobs/${sha256}`, bytes.subarray(1))
    await expect(fetchBlob(store, blob, to)).rejects.toMatchObject({ code: 'SD_STORE_INVALID' })
  })

  test.each([
    ['other', Buffer.from('other')],
    ['fewer', Buffer.from('byt')],
    ['more', Buffer.from('bytes and bytes')],
  ])('writes no blob of %s bytes than its name says', async (_what, bytes) => {
    const { store } = await open()
    const key = `blobs/${createHash('sha256').update('bytes').digest('hex')}`
    const content = { size: 5, open: () => Readable.from([bytes]) }
    await expect(store.put(key, content)).rejects.toMatchObject({ code: 'SD_BUILD_CHANGED' })
    expect(await keys(store, '')).toEqual([])
  })

  test('says why the source of an object cannot be read', async () => {
    const { store } = await open()
    const content = { size: 5, open: () => createReadStream('/nowhere/at/all') }
    await expect(store.put('blobs/x', content)).rejects.toThrow(/^blobs\/x: its source.*ENOENT.*nowhere/)
    expect(await keys(store, '')).toEqual([])
  })
})

async function opened(store: StoreBackend, key: string, signal?: AbortSignal) {
  const object = await store.read(key, signal === undefined ? {} : { signal })
  if (object === undefined || object === 'unchanged') throw new Error(`${key}: ${object ?? 'is not there'}`)
  return object
}

async function keys(store: StoreBackend, prefix: string): Promise<string[]> {
  const found: string[] = []
  for await (const { key } of store.list(prefix)) found.push(key)
  return found.toSorted()
}

function versionOf(outcome: Awaited<ReturnType<StoreBackend['put']>>): string {
  if (outcome === 'conflict') throw new Error('a conflict')
  return outcome.version
}
