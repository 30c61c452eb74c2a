import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ContentCoding, contentCodings } from '@serve-dist/manifest'
import { describe, expect, onTestFinished, test } from 'vitest'
import { encode } from '../codecs/encode.ts'
import { describeFile } from '../folder/describe-file.ts'
import { addFiles, makeFolder } from '../../test/support/make-folder.ts'
import { AbandonedError, openEncoder } from './open-encoder.ts'
import { type EncodeTask, type EncodeThread, startEncodeThread } from './start-encode-thread.ts'

const codings = contentCodings.map(({ name }) => name)

/** Returns text that takes long to encode. */
function makeText(size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  let seed = size
  for (let index = 0; index < size; index += 1) {
    seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0
    bytes[index] = 97 + ((seed >>> 16) % 7)
  }
  return bytes
}

/** Opens an encoder, and returns a function that creates a file and its encoding task. */
async function open(cores: number, start: () => EncodeThread = startEncodeThread) {
  const folder = await makeFolder()
  const started: EncodeThread[] = []
  const startThread = (): EncodeThread => {
    const thread = start()
    started.push(thread)
    return thread
  }
  const encoder = openEncoder({ cores, memory: Infinity, encode, startThread })
  onTestFinished(async () => await encoder.close())
  const taskOf = async (size: number, coding: ContentCoding): Promise<EncodeTask> => {
    const path = `${size}.txt`
    await addFiles(folder, { [path]: makeText(size) })
    return { ...(await describeFile(folder, path)), folder, coding }
  }
  return { encoder, started, taskOf }
}

describe('openEncoder', () => {
  test('encodes in threads to the same bytes as this thread', { timeout: 30_000 }, async () => {
    const { encoder, started, taskOf } = await open(2)
    for (const size of [150_000, 2000, 100_000]) {
      for (const coding of codings) {
        const task = await taskOf(size, coding)
        const encoded = await encoder.encode(task)
        const bytes = await readFile(join(task.folder, task.path))
        expect(Buffer.from(encoded).equals(await encode(bytes, coding))).toBe(true)
      }
    }
    expect(started.length).toBeGreaterThan(0)
    expect(encoder.work.results).toBe(9)
    expect(encoder.work.milliseconds).toBeGreaterThan(0)
  })

  test('counts the time of codecs, without the start of a thread', async () => {
    const answer = { encoded: new Uint8Array(1), milliseconds: 7 }
    const { encoder, taskOf } = await open(1, () => ({
      ...startEncodeThread(),
      encodeFile: async () => answer,
    }))
    await encoder.encode(await taskOf(150_000, 'br'))
    await encoder.encode(await taskOf(150_000, 'br'))
    expect(encoder.work).toEqual({ results: 2, milliseconds: 14 })
  })

  test('starts no thread for little work', async () => {
    const { encoder, started, taskOf } = await open(2)
    for (const coding of codings) await encoder.encode(await taskOf(5000, coding))
    expect(started).toHaveLength(0)
  })

  test('starts a thread for each waiting task, up to the number of cores', async () => {
    const { encoder, started, taskOf } = await open(3)
    await encoder.encode(await taskOf(150_000, 'br'))
    expect(started).toHaveLength(1)
    const task = await taskOf(20_000, 'br')
    await Promise.all(Array.from({ length: 9 }, async () => await encoder.encode(task)))
    expect(started).toHaveLength(3)
  })

  test.each([2000, 150_000])(
    'rejects a file of %i bytes that changed after it was described',
    async (size) => {
      const { encoder, taskOf } = await open(1)
      const task = await taskOf(size, 'br')
      await addFiles(task.folder, { [task.path]: makeText(size).fill(65) })
      await expect(encoder.encode(task)).rejects.toThrow('changed during the read')
    },
  )

  test('ends running work and rejects all other work after `abandon`', async () => {
    const { encoder, taskOf } = await open(1)
    const task = await taskOf(150_000, 'br')
    const both = [encoder.encode(task), encoder.encode(task)] as const
    encoder.abandon()
    await expect(both[1]).rejects.toThrow(AbandonedError)
    await expect(encoder.encode(task)).rejects.toThrow(AbandonedError)
    expect((await both[0]).length).toBeLessThan(150_000)
  })
})
