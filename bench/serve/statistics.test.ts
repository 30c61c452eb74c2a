import { describe, expect, test } from 'vitest'
import { isNoise, median, percentile, spread } from './statistics.ts'

describe('median', () => {
  test.each([
    [[3], 3],
    [[3, 1, 2], 2],
    [[4, 1, 2, 3], 2.5],
  ])('of %j is %d', (values, expected) => {
    expect(median(values)).toBe(expected)
  })
})

describe('percentile', () => {
  test.each([
    [0.5, 50],
    [0.99, 99],
    [1, 100],
  ])('%d of 1 to 100 is %d', (share, expected) => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index)
    expect(percentile(values, share)).toBe(expected)
  })
})

describe('spread', () => {
  test('is the distance from lowest to highest as a share of the median', () => {
    expect(spread([90, 100, 110])).toBeCloseTo(0.2)
  })
})

describe('isNoise', () => {
  test.each([
    [0.02, [0], true],
    [-0.02, [0], true],
    [0.05, [0, 0], false],
    [0.05, [0, 0.1], true],
    [-0.2, [0.1], false],
  ])('a change of %d with spreads %j: %j', (change, spreads, expected) => {
    expect(isNoise(change, spreads)).toBe(expected)
  })
})
