import { setImmediate } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { forEachConcurrently } from './for-each-concurrently.ts'

describe('forEachConcurrently', () => {
  test('starts each item once, in order, and never exceeds the limit', async () => {
    const items = Array.from({ length: 30 }, (_each, index) => index)
    const begun: number[] = []
    let [running, most] = [0, 0]
    await forEachConcurrently(items, 4, async (item) => {
      begun.push(item)
      running += 1
      most = Math.max(most, running)
      for (let turn = 0; turn < item % 3; turn += 1) await setImmediate()
      running -= 1
    })
    expect(begun).toEqual(items)
    expect(most).toBe(4)
  })

  test('starts no further item after a failure, waits for running items, and throws the failure', async () => {
    const ended: number[] = []
    const done = forEachConcurrently([0, 1, 2, 3], 2, async (item) => {
      if (item === 0) throw new Error('zero')
      await setImmediate()
      ended.push(item)
    })
    await expect(done).rejects.toThrow('zero')
    expect(ended).toEqual([1])
  })
})
