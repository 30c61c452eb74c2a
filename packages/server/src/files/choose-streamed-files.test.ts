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
    ['none when the budget lasts', 160, 100, []],
    ['what is left once the smallest fill the budget', 60, 100, ['large']],
    ['the smallest of them first', 10, 100, ['middle', 'large']],
    ['those above the largest', 160, 99, ['large']],
    ['all but empty ones without a budget', 0, 100, ['small', 'middle', 'large']],
    ['all but empty ones without a largest', 160, 0, ['small', 'middle', 'large']],
    ['none without a limit', Infinity, Infinity, []],
  ])('streams %s', (_what, memoryBudget, largestBody, paths) => {
    const streamed = chooseStreamedFiles(files, { memoryBudget, largestBody })
    expect(streamed.map(({ path }) => path)).toEqual(paths)
  })

  test('keeps within both limits, and leaves out nothing that would still fit', () => {
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
