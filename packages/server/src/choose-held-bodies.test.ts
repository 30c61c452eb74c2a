import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chooseHeldBodies } from './choose-held-bodies.ts'

const files = [
  { path: 'large', size: 100 },
  { path: 'small', size: 10 },
  { path: 'middle', size: 50 },
  { path: 'empty', size: 0 },
]

describe('chooseHeldBodies', () => {
  test.each([
    ['all when the budget lasts', 160, 100, ['empty', 'small', 'middle', 'large']],
    ['the smallest first', 60, 100, ['empty', 'small', 'middle']],
    ['none above the largest', 160, 99, ['empty', 'small', 'middle']],
    ['only empty ones without a budget', 0, 100, ['empty']],
    ['only empty ones without a largest', 160, 0, ['empty']],
    ['all without a limit', Infinity, Infinity, ['empty', 'small', 'middle', 'large']],
  ])('holds %s', (_what, memoryBudget, largestBody, paths) => {
    expect([...chooseHeldBodies(files, { memoryBudget, largestBody })]).toEqual(paths)
  })

  test('keeps within both limits, and leaves out nothing that would still fit', () => {
    const sizes = fc.dictionary(
      fc.string(),
      fc.nat(1000).map((size) => ({ size })),
      { noNullPrototype: true },
    )
    fc.assert(
      fc.property(sizes, fc.nat(5000), fc.nat(1200), (given, memoryBudget, largestBody) => {
        const entries = new Map(Object.entries(given))
        const listed = [...entries].map(([path, { size }]) => ({ path, size }))
        const held = chooseHeldBodies(listed, { memoryBudget, largestBody })
        const sum = [...held].reduce((total, path) => total + (entries.get(path)?.size ?? 0), 0)
        expect(sum).toBeLessThanOrEqual(memoryBudget)
        for (const [path, { size }] of entries) {
          expect(held.has(path) ? size <= largestBody : size > largestBody || sum + size > memoryBudget).toBe(
            true,
          )
        }
      }),
    )
  })
})
