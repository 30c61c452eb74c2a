import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createWeightedSemaphore } from './create-weighted-semaphore.ts'

describe('createWeightedSemaphore', () => {
  test('starts tasks in order up to the limit, also after failures', async () => {
    const run = createWeightedSemaphore(3)
    const begun: number[] = []
    let [running, most] = [0, 0]
    const task = async (index: number): Promise<number> => {
      begun.push(index)
      running += 1
      most = Math.max(most, running)
      await setImmediate()
      running -= 1
      if (index % 2 === 0) throw new Error('even')
      return index
    }
    const indices = Array.from({ length: 20 }, (_each, index) => index)
    const results = await Promise.allSettled(indices.map((index) => run(() => task(index))))
    expect(begun).toEqual(indices)
    expect(most).toBe(3)
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10)
  })

  test('runs all work once, in order, and never exceeds the limit', async () => {
    const weights = fc.array(fc.nat({ max: 20 }), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(weights, async (items) => {
        const run = createWeightedSemaphore(25)
        const begun: number[] = []
        const running: number[] = []
        const work = async (weight: number): Promise<void> => {
          begun.push(weight)
          running.push(weight)
          expect(running.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(25)
          for (let turn = 0; turn < weight % 3; turn += 1) await setImmediate()
          running.splice(running.indexOf(weight), 1)
        }
        await Promise.all(items.map(async (weight) => await run(() => work(weight), weight)))
        expect(begun).toEqual(items)
        expect(running).toEqual([])
      }),
      { numRuns: 50 },
    )
  })

  test('runs work above the limit alone', async () => {
    const run = createWeightedSemaphore(10)
    let running = 0
    const seen = new Map<number, number>()
    const work = async (weight: number): Promise<void> => {
      running += 1
      seen.set(weight, running)
      await setImmediate()
      running -= 1
    }
    await Promise.all([1, 100, 2].map(async (weight) => await run(() => work(weight), weight)))
    expect(seen.get(100)).toBe(1)
  })
})
