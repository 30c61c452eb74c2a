import { contentCodings } from '@serve-dist/manifest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { encode } from '../codecs/encode.ts'
import { type Encoder, openEncoder } from './open-encoder.ts'
import { type EncodeThread, startEncodeThread } from './start-encode-thread.ts'

const codings = contentCodings.map(({ name }) => name)

/** Text that no codec makes short work of, in memory that threads can share. */
function sharedText(size: number): Uint8Array {
  const bytes = new Uint8Array(new SharedArrayBuffer(size))
  let seed = size
  for (let index = 0; index < size; index += 1) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    bytes[index] = 97 + ((seed >>> 16) % 7)
  }
  return bytes
}

/** Threads that were started in this test. */
let threadsStarted = 0

function startThread(): EncodeThread {
  threadsStarted += 1
  return startEncodeThread()
}

function open(cores: number, start: () => EncodeThread = startThread): Encoder {
  threadsStarted = 0
  const encoder = openEncoder({ cores, memory: Infinity, encode, startThread: start })
  onTestFinished(async () => await encoder.close())
  return encoder
}

describe('openEncoder', () => {
  test('encodes in threads, to the bytes that this thread makes', { timeout: 30_000 }, async () => {
    const encoder = open(2)
    for (const size of [150_000, 2000, 100_000]) {
      const bytes = sharedText(size)
      for (const coding of codings) {
        const encoded = await encoder.encode(bytes, coding)
        expect(Buffer.from(encoded).equals(await encode(bytes, coding))).toBe(true)
      }
    }
    expect(threadsStarted).toBeGreaterThan(0)
    expect(encoder.work.results).toBe(9)
    expect(encoder.work.milliseconds).toBeGreaterThan(0)
  })

  test('counts what codecs took, and no start of a thread', async () => {
    const answer = { encoded: new Uint8Array(1), milliseconds: 7 }
    const encoder = open(1, () => ({
      ...startThread(),
      encodeTimed: async () => answer,
    }))
    await encoder.encode(sharedText(150_000), 'br')
    await encoder.encode(sharedText(150_000), 'br')
    expect(encoder.work).toEqual({ results: 2, milliseconds: 14 })
  })

  test('starts no thread for little work', async () => {
    const encoder = open(2)
    for (const coding of codings) await encoder.encode(sharedText(5000), coding)
    expect(threadsStarted).toBe(0)
  })

  test('starts as many threads as there is work for, at most one a core', async () => {
    const encoder = open(3)
    await encoder.encode(sharedText(150_000), 'br')
    expect(threadsStarted).toBe(1)
    await Promise.all(Array.from({ length: 9 }, async () => await encoder.encode(sharedText(20_000), 'br')))
    expect(threadsStarted).toBe(3)
  })

  test('encodes what is not in shared memory', async () => {
    const encoder = open(1)
    const bytes = Buffer.from(sharedText(200_000))
    expect((await encoder.encode(bytes, 'br')).length).toBeLessThan(bytes.length)
  })
})
