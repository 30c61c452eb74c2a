import { describe, expect, test } from 'vitest'
import { coalesceRuns } from './coalesce-runs.ts'

describe('coalesceRuns', () => {
  test('gives all callers during a run the result of one further run', async () => {
    const finish: (() => void)[] = []
    let runs = 0
    const run = coalesceRuns(async () => {
      runs += 1
      const number = runs
      await new Promise<void>((resolve) => finish.push(resolve))
      return number
    })
    const first = run()
    const others = [run(), run()]
    expect(runs).toBe(1)
    finish[0]?.()
    expect(await first).toBe(1)
    finish[1]?.()
    expect(await Promise.all(others)).toEqual([2, 2])
    const last = run()
    finish[2]?.()
    expect([await last, runs]).toEqual([3, 3])
  })
})
