import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { runBounded } from './run-bounded.ts'

describe('runBounded', () => {
  test('does all items once, in order, and never exceeds a bound', async () => {
    const sizes = fc.array(fc.nat({ max: 20 }), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(sizes, fc.integer({ min: 1, max: 5 }), async (items, tasks) => {
        const begun: number[] = []
        const running: number[] = []
        await runBounded(items, { tasks, bytes: 25, bytesOf: (size) => size }, async (size) => {
          begun.push(size)
          running.push(size)
          expect(running.length).toBeLessThanOrEqual(tasks)
          expect(running.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(25)
          for (let turn = 0; turn < size % 3; turn += 1) await setImmediate()
          running.splice(running.indexOf(size), 1)
        })
        expect(begun).toEqual(items)
        expect(running).toEqual([])
      }),
      { numRuns: 50 },
    )
  })

  test('runs an item above the bound of bytes alone', async () => {
    let running = 0
    const seen = new Map<number, number>()
    await runBounded([1, 100, 1], { tasks: 4, bytes: 10, bytesOf: (size) => size }, async (size) => {
      running += 1
      seen.set(size, running)
      await setImmediate()
      running -= 1
    })
    expect(seen.get(100)).toBe(1)
  })

  test('after a failure begins nothing more, waits for what runs, and throws it', async () => {
    const ended: number[] = []
    const pass = runBounded([0, 1, 2, 3], { tasks: 2, bytes: 1, bytesOf: () => 0 }, async (item) => {
      if (item === 0) throw new Error('zero')
      await setImmediate()
      ended.push(item)
    })
    await expect(pass).rejects.toThrow('zero')
    expect(ended).toEqual([1])
  })
})
