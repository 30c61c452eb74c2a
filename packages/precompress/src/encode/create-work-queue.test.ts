import { describe, expect, test } from 'vitest'
import { encodingCost, encodingMemory, memoryFor } from '../codecs/encoding-cost.ts'
import { resolvePrecompressOptions } from '../resolve-precompress-options.ts'
import { createWorkQueue, type WorkLimits } from './create-work-queue.ts'
import type { ContentCoding } from '@serve-dist/manifest'

interface Begun {
  readonly name: string
  readonly end: () => void
  readonly fail: (reason: Error) => void
}

/** Creates a queue whose encodings end when the test ends them. A file's name is its size. */
function startQueue(limits: Partial<WorkLimits>) {
  const begun: Begun[] = []
  const run = createWorkQueue({ tasks: 1, memory: Infinity, ...limits })
  const begin = async (name: string): Promise<string> =>
    await new Promise((resolve, reject) => {
      begun.push({ name, end: () => resolve(name), fail: reject })
    })
  const encode = async (size: number, coding: ContentCoding): Promise<string> => {
    const cost = encodingCost(coding, size)
    return await run({ cost, memory: encodingMemory(coding, size) }, () => begin(`${coding} ${size}`))
  }
  const runSmall = async (name: string): Promise<string> =>
    await run({ cost: 0, memory: 0 }, () => begin(name))
  /** Ends all encodings one after the other. */
  const endAll = async (works: readonly Promise<string>[]): Promise<readonly string[]> => {
    for (let turn = 0; turn < works.length; turn += 1) {
      begun[turn]?.end()
      await settle()
    }
    await Promise.all(works)
    return begun.map(({ name }) => name)
  }
  return { encode, runSmall, begun, endAll, names: () => begun.map(({ name }) => name) }
}

async function settle(): Promise<void> {
  await new Promise(setImmediate)
}

describe('createWorkQueue', () => {
  test('starts the largest work first, across files and codings', async () => {
    const { encode, endAll } = startQueue({ tasks: 1 })
    const sizes = [4_000_000, 2_500_000, 9_000_000]
    const works = [
      encode(1, 'gzip'),
      ...sizes.flatMap((size) => (['zstd', 'br', 'gzip'] as const).map((coding) => encode(size, coding))),
    ]
    expect(await endAll(works)).toEqual([
      'gzip 1',
      'br 9000000',
      'br 4000000',
      'zstd 9000000',
      'br 2500000',
      'zstd 4000000',
      'zstd 2500000',
      'gzip 9000000',
      'gzip 4000000',
      'gzip 2500000',
    ])
  })

  test('runs two encodings with the largest window at once by default', async () => {
    const memory = memoryFor(resolvePrecompressOptions({}).bytesInFlight)
    const { encode, endAll, names } = startQueue({ tasks: 8, memory })
    const works = [20e6, 20e6, 20e6].map((size) => encode(size, 'br'))
    expect(names()).toHaveLength(2)
    expect(await endAll(works)).toHaveLength(3)
  })

  test('limits the number of concurrent tasks', async () => {
    const { encode, begun, endAll } = startQueue({ tasks: 3 })
    const works = Array.from({ length: 7 }, () => encode(50_000, 'br'))
    expect(begun).toHaveLength(3)
    begun[1]?.end()
    await settle()
    expect(begun).toHaveLength(4)
    await endAll(works)
  })

  test('delays work that does not fit into the memory, and starts smaller work', async () => {
    const memory = encodingMemory('br', 5_000_000) + encodingMemory('gzip', 100)
    const { encode, begun, endAll, names } = startQueue({ tasks: 4, memory })
    const works = [encode(5_000_000, 'br'), encode(4_000_000, 'br'), encode(100, 'gzip')]
    expect(names()).toEqual(['br 5000000', 'gzip 100'])
    begun[0]?.end()
    await settle()
    expect(names()).toEqual(['br 5000000', 'gzip 100', 'br 4000000'])
    await endAll(works)
  })

  test('limits the work that overtakes a delayed task to its own cost, except work without memory', async () => {
    const memory = encodingMemory('br', 5_000_000)
    const { encode, runSmall, begun, endAll, names } = startQueue({ tasks: 2, memory })
    const sizes = [2_500_000, ...Array.from({ length: 8 }, () => 1_000_000), 5_000_000]
    const works = sizes.map((size) => encode(size, 'br'))
    // The first encoding stays until the end.
    for (let turn = 1; turn <= 6; turn += 1) {
      begun[turn]?.end()
      await settle()
    }
    const small = runSmall('small')
    const passed = ['br 2500000', ...Array.from({ length: 6 }, () => 'br 1000000'), 'small']
    expect(names()).toEqual(passed)
    expect((await endAll([...works, small])).slice(0, 9)).toEqual([...passed, 'br 5000000'])
  })

  test('runs work without memory after all other work', async () => {
    const { encode, runSmall, endAll } = startQueue({ tasks: 1, memory: 1 })
    const works = [encode(50, 'br'), runSmall('a'), runSmall('b'), encode(60, 'br')]
    expect(await endAll(works)).toEqual(['br 50', 'br 60', 'a', 'b'])
  })

  test('runs a task alone if it exceeds the whole memory', async () => {
    const { encode, begun, endAll, names } = startQueue({ tasks: 4, memory: 1 })
    const works = [encode(50, 'br'), encode(60, 'br')]
    expect(names()).toEqual(['br 50'])
    begun[0]?.end()
    await settle()
    expect(names()).toEqual(['br 50', 'br 60'])
    await endAll(works)
  })

  test('continues after a failure', async () => {
    const { encode, begun } = startQueue({})
    const failing = encode(9, 'br')
    const next = encode(8, 'br')
    begun[0]?.fail(new Error('no'))
    await expect(failing).rejects.toThrow('no')
    await settle()
    begun[1]?.end()
    expect(await next).toBe('br 8')
  })
})
