import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { createSharedMemory } from './create-shared-memory.ts'

async function settle(): Promise<void> {
  await new Promise(setImmediate)
}

describe('createSharedMemory', () => {
  test('hands out the same memory again, whatever passes through it', async () => {
    const memory = createSharedMemory(100)
    const buffers = new Set<ArrayBufferLike>()
    for (let turn = 0; turn < 50; turn += 1) {
      const both = [await memory.take(60), await memory.take(40)]
      for (const bytes of both) {
        buffers.add(bytes.buffer)
        memory.giveBack(bytes)
      }
    }
    expect([...buffers].map(({ byteLength }) => byteLength)).toEqual([100])
  })

  test('makes wait what finds no room, and nothing passes it', async () => {
    const memory = createSharedMemory(100)
    const first = await memory.take(60)
    const order: string[] = []
    const second = memory.take(50).then((bytes) => (order.push('second'), bytes))
    const third = memory.take(10).then((bytes) => (order.push('third'), bytes))
    await settle()
    expect(order).toEqual([])
    memory.giveBack(first)
    await Promise.all([second, third])
    expect(order).toEqual(['second', 'third'])
  })

  test('joins what was given back in pieces', async () => {
    const memory = createSharedMemory(90)
    const pieces = [await memory.take(30), await memory.take(30), await memory.take(30)]
    for (const index of [0, 2, 1]) memory.giveBack(pieces[index] ?? new Uint8Array())
    expect(await memory.take(90)).toHaveLength(90)
  })

  test('gives what is larger than all of it memory of its own', async () => {
    const memory = createSharedMemory(10)
    const large = await memory.take(11)
    expect(large).toHaveLength(11)
    memory.giveBack(large)
    expect(await memory.take(10)).toHaveLength(10)
  })

  test('hands out no place that a message would cut to 32 bits', async () => {
    const memory = createSharedMemory(2 ** 33)
    const pieces = [await memory.take(2 ** 31), await memory.take(2 ** 31)]
    let isTaken = false
    const third = memory.take(1).then((bytes) => ((isTaken = true), bytes))
    await settle()
    expect(isTaken).toBe(false)
    memory.giveBack(pieces[0] ?? new Uint8Array())
    expect((await third).byteOffset).toBe(0)
  })

  test('fails for all while there is no memory, and for nobody behind them', async () => {
    const memory = createSharedMemory(100)
    vi.stubGlobal('SharedArrayBuffer', function none() {
      throw new RangeError('Array buffer allocation failed')
    })
    try {
      const both = [memory.take(60), memory.take(40)]
      for (const take of both) await expect(take).rejects.toThrow('allocation failed')
    } finally {
      vi.unstubAllGlobals()
    }
    expect(await memory.take(100)).toHaveLength(100)
  })

  test('never hands out a byte twice, and leaves nobody waiting', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 40 }), async (sizes) => {
        const memory = createSharedMemory(100)
        const held = new Set<Uint8Array>()
        const used = new Set<number>()
        await Promise.all(
          sizes.map(async (size, index) => {
            const bytes = await memory.take(size)
            const places = Array.from(bytes, (_, at) => bytes.byteOffset + at)
            expect(places.filter((place) => used.has(place))).toEqual([])
            for (const place of places) used.add(place)
            held.add(bytes)
            for (let turn = 0; turn <= index % 3; turn += 1) await settle()
            for (const place of places) used.delete(place)
            held.delete(bytes)
            memory.giveBack(bytes)
          }),
        )
        expect(held.size).toBe(0)
        expect(await memory.take(100)).toHaveLength(100)
      }),
    )
  })
})
