import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { atMost } from './at-most.ts'

describe('atMost', () => {
  test('runs as many tasks at once as it may, in their order, whether they fail or not', async () => {
    const run = atMost(3)
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
})
