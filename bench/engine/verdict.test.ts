import { describe, expect, test } from 'vitest'
import { estimate, resolutionOf, verdictOf } from './verdict.ts'

describe('estimate', () => {
  test('takes all values of a few, and of thirty those from the tenth to the twenty-first', () => {
    expect(estimate([3, 1, 2])).toEqual({ median: 2, low: 1, high: 3 })
    const thirty = Array.from({ length: 30 }, (_, index) => index + 1)
    expect(estimate(thirty)).toEqual({ median: 15.5, low: 10, high: 21 })
  })
})

describe('resolutionOf', () => {
  test('is how far the ratio of a server to itself reaches from 1', () => {
    expect(resolutionOf({ median: 1.01, low: 0.97, high: 1.02 })).toBeCloseTo(0.03)
  })
})

describe('verdictOf', () => {
  const judged = { atMost: 0.87, rounds: 30, resolution: 0.03 }

  test('judges what the run can tell apart', () => {
    expect(verdictOf(0.8, judged)).toBe('met')
    expect(verdictOf(0.95, judged)).toBe('missed')
    expect(verdictOf(0.86, judged)).toBe('not measurable here')
  })

  test('lets a difference below 10 % decide from 30 rounds on', () => {
    expect(verdictOf(0.8, { ...judged, rounds: 29 })).toBe('not measurable here')
    expect(verdictOf(0.5, { ...judged, rounds: 5 })).toBe('met')
    expect(verdictOf(0.5, { ...judged, rounds: 4 })).toBe('not measurable here')
  })

  test('judges nothing by what was not measured', () => {
    expect(verdictOf(Number.NaN, judged)).toBe('not measurable here')
  })
})
