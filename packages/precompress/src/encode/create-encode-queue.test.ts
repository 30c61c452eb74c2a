import { describe, expect, test } from 'vitest'
import { AbandonedError, createEncodeQueue, type EncodeLimits } from './create-encode-queue.ts'
import { codecMemory, encodingMemory } from '../codecs/encoding-cost.ts'
import { resolvePrecompressOptions } from '../resolve-precompress-options.ts'

interface Begun {
  readonly name: string
  readonly end: () => void
  readonly fail: (reason: Error) => void
}

/** A queue in front of encodings that end when the test says so; a file is named by its size. */
function startQueue(limits: Partial<EncodeLimits>) {
  const begun: Begun[] = []
  const queue = createEncodeQueue(
    async ({ bytes, coding }) =>
      await new Promise((resolve, reject) => {
        begun.push({ name: `${coding} ${bytes.length}`, end: () => resolve(bytes), fail: reject })
      }),
    { tasks: 1, memory: Infinity, ...limits },
  )
  return { queue, begun, names: () => begun.map(({ name }) => name) }
}

async function settle(): Promise<void> {
  await new Promise(setImmediate)
}

describe('createEncodeQueue', () => {
  test('takes the largest work first, across files and codings', async () => {
    const { queue, begun, names } = startQueue({ tasks: 1 })
    const first = queue.encode(new Uint8Array(1), 'gzip')
    const others = ([4_000_000, 2_500_000, 9_000_000] as const).flatMap((size) =>
      (['zstd', 'br', 'gzip'] as const).map(
        async (coding) => await queue.encode(new Uint8Array(size), coding),
      ),
    )
    for (let turn = 0; turn < 10; turn += 1) {
      begun[turn]?.end()
      await settle()
    }
    await Promise.all([first, ...others])
    expect(names()).toEqual([
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

  test('encodes two of the largest windows at once by default, and no third', async () => {
    const { bytesInFlight } = resolvePrecompressOptions({})
    const { queue, begun, names } = startQueue({ tasks: 8, memory: codecMemory(bytesInFlight) })
    const large = [20e6, 20e6, 20e6].map(async (size) => await queue.encode(new Uint8Array(size), 'br'))
    expect(names()).toEqual(['br 20000000', 'br 20000000'])
    begun[0]?.end()
    await large[0]
    expect(names()).toHaveLength(3)
    for (const { end } of begun) end()
    await Promise.all(large)
  })

  test('runs as many as it may and no more', async () => {
    const { queue, begun } = startQueue({ tasks: 3 })
    const all = Array.from({ length: 7 }, async () => await queue.encode(new Uint8Array(50_000), 'br'))
    await settle()
    expect(begun).toHaveLength(3)
    begun[1]?.end()
    await settle()
    expect(begun).toHaveLength(4)
    for (let turn = 0; turn < 7; turn += 1) {
      begun[turn]?.end()
      await settle()
    }
    await Promise.all(all)
  })

  test('holds back what would not fit beside the others, and lets smaller work pass', async () => {
    const memory = encodingMemory('br', 5_000_000) + encodingMemory('gzip', 100)
    const { queue, begun, names } = startQueue({ tasks: 4, memory })
    const all = [
      queue.encode(new Uint8Array(5_000_000), 'br'),
      queue.encode(new Uint8Array(4_000_000), 'br'),
      queue.encode(new Uint8Array(100), 'gzip'),
    ]
    await settle()
    expect(names()).toEqual(['br 5000000', 'gzip 100'])
    begun[0]?.end()
    await settle()
    expect(names()).toEqual(['br 5000000', 'gzip 100', 'br 4000000'])
    begun[1]?.end()
    begun[2]?.end()
    await Promise.all(all)
  })

  test('lets no more work pass than what is held back is itself', async () => {
    const memory = encodingMemory('br', 5_000_000)
    const { queue, begun, names } = startQueue({ tasks: 2, memory })
    const sizes = [2_500_000, ...Array.from({ length: 8 }, () => 1_000_000), 5_000_000]
    const all = sizes.map(async (size) => await queue.encode(new Uint8Array(size), 'br'))
    for (let turn = 0; turn < 10; turn += 1) {
      // The first is the last to end.
      begun[turn + 1 < begun.length ? turn + 1 : 0]?.end()
      await settle()
    }
    for (let turn = 0; turn < 10; turn += 1) {
      begun[turn]?.end()
      await settle()
    }
    await Promise.all(all)
    expect(names().slice(0, 8)).toEqual([
      'br 2500000',
      ...Array.from({ length: 6 }, () => 'br 1000000'),
      'br 5000000',
    ])
  })

  test('encodes alone what is larger than its memory', async () => {
    const { queue, begun, names } = startQueue({ tasks: 4, memory: 1 })
    const all = [queue.encode(new Uint8Array(50), 'br'), queue.encode(new Uint8Array(60), 'br')]
    await settle()
    expect(names()).toEqual(['br 50'])
    begun[0]?.end()
    await settle()
    expect(names()).toEqual(['br 50', 'br 60'])
    begun[1]?.end()
    await Promise.all(all)
  })

  test('goes on after a failure', async () => {
    const { queue, begun } = startQueue({})
    const failing = queue.encode(new Uint8Array(9), 'br')
    const next = queue.encode(new Uint8Array(8), 'br')
    begun[0]?.fail(new Error('no'))
    await expect(failing).rejects.toThrow('no')
    await settle()
    begun[1]?.end()
    expect(await next).toHaveLength(8)
  })

  test('ends what it began and nothing else once it is abandoned', async () => {
    const { queue, begun } = startQueue({})
    const running = queue.encode(new Uint8Array(9), 'br')
    const waiting = queue.encode(new Uint8Array(8), 'br')
    queue.abandon()
    await expect(waiting).rejects.toThrow(AbandonedError)
    await expect(queue.encode(new Uint8Array(7), 'br')).rejects.toThrow(AbandonedError)
    begun[0]?.end()
    expect(await running).toHaveLength(9)
    expect(begun).toHaveLength(1)
  })

  test('fills up what is idle with other work, behind everything that can be encoded', async () => {
    const { queue, begun, names } = startQueue({ tasks: 2 })
    const ends: (() => void)[] = []
    let left = 3
    let isOver = false
    const filling = queue
      .fillUp(() => {
        if (left === 0) return undefined
        left -= 1
        return new Promise((resolve) => ends.push(resolve))
      })
      .then(() => (isOver = true))
    expect(ends).toHaveLength(2)

    const encoding = queue.encode(new Uint8Array(9), 'br')
    ends[0]?.()
    await settle()
    expect([names(), ends.length]).toEqual([['br 9'], 2])
    begun[0]?.end()
    await encoding
    await settle()
    expect(ends).toHaveLength(3)
    // What was begun may give something back.
    left = 1
    ends[1]?.()
    await settle()
    expect([ends.length, isOver]).toEqual([4, false])
    ends[2]?.()
    ends[3]?.()
    await filling
  })

  test('ends filling up with a failure when all that runs has ended', async () => {
    const { queue } = startQueue({ tasks: 2 })
    let end: (() => void) | undefined
    const works = [Promise.reject(new Error('no')), new Promise<void>((resolve) => (end = resolve))]
    let isOver = false
    const filling = queue.fillUp(() => works.shift()).finally(() => (isOver = true))
    const failure = filling.catch((error: unknown) => error)
    await settle()
    expect(isOver).toBe(false)
    end?.()
    expect(await failure).toEqual(new Error('no'))
  })
})
