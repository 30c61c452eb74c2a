import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chooseStreamedFiles } from './choose-streamed-files.ts'

const files = [
  { path: 'large', size: 100 },
  { path: 'small', size: 10 },
  { path: 'middle', size: 50 },
  { path: 'empty', size: 0 },
]

describe('chooseStreamedFiles', () => {
  test.each([
    ['none if the budget suffices', 160, 100, []],
    ['the rest after the smallest files fill the budget', 60, 100, ['large']],
    ['the larger files first', 10, 100, ['middle', 'large']],
    ['files above the largest body', 160, 99, ['large']],
    ['all but empty files without a budget', 0, 100, ['small', 'middle', 'large']],
    ['all but empty files if no body may be held', 160, 0, ['small', 'middle', 'large']],
    ['none without limits', Infinity, Infinity, []],
  ])('streams %s', (_what, memoryBudget, largestBody, paths) => {
    const streamed = chooseStreamedFiles(files, { memoryBudget, largestBody })
    expect(streamed.map(({ path }) => path)).toEqual(paths)
  })

  test('respects both limits and holds every file that fits', () => {
    const sizes = fc.array(fc.nat(1000).map((size) => ({ size })))
    fc.assert(
      fc.property(sizes, fc.nat(5000), fc.nat(1200), (listed, memoryBudget, largestBody) => {
        const streamed = new Set(chooseStreamedFiles(listed, { memoryBudget, largestBody }))
        const held = listed.filter((file) => !streamed.has(file))
        const sum = held.reduce((total, { size }) => total + size, 0)
        expect(sum).toBeLessThanOrEqual(memoryBudget)
        expect(held.every(({ size }) => size <= largestBody)).toBe(true)
        expect([...streamed].every(({ size }) => size > largestBody || sum + size > memoryBudget)).toBe(true)
      }),
    )
  })
})
