import { describe, expect, test } from 'vitest'
import { estimateMedian, isSettled, resolutionOf, verdictOf } from './verdict.ts'

function rounds(count: number, share: number): number[] {
  return Array.from({ length: count }, () => share)
}

/** So many values from the first to the last, evenly. */
function between(count: number, first: number, last: number): number[] {
  return Array.from({ length: count }, (_, index) => first + ((last - first) * index) / (count - 1))
}

describe('estimateMedian', () => {
  test('takes all values of a few, and of thirty those from the tenth to the twenty-first', () => {
    expect(estimateMedian([3, 1, 2])).toEqual({ median: 2, low: 1, high: 3 })
    expect(estimateMedian(between(30, 1, 30))).toEqual({ median: 15.5, low: 10, high: 21 })
  })

  test('takes more of them where it may be wrong less often', () => {
    expect(estimateMedian(between(10, 1, 10))).toEqual({ median: 5.5, low: 2, high: 9 })
    expect(estimateMedian(between(10, 1, 10), 0.01)).toEqual({ median: 5.5, low: 1, high: 10 })
  })
})

describe('resolutionOf', () => {
  test('is how far the ratio of a server to itself reaches from 1', () => {
    expect(resolutionOf({ median: 1.01, low: 0.97, high: 1.02 })).toBeCloseTo(0.03)
  })
})

describe('verdictOf', () => {
  test('judges what the run can tell apart', () => {
    expect(verdictOf(rounds(30, 0.92), 0.03)).toBe('met')
    expect(verdictOf(rounds(30, 1.09), 0.03)).toBe('missed')
    expect(verdictOf(rounds(30, 0.99), 0.03)).toBe('not measurable here')
  })

  test('lets a difference below 10 % decide from 30 rounds on', () => {
    expect(verdictOf(rounds(29, 0.92), 0.03)).toBe('not measurable here')
    expect(verdictOf(rounds(5, 0.6), 0.03)).toBe('met')
    expect(verdictOf(rounds(4, 0.6), 0.03)).toBe('not measurable here')
  })

  test('judges nothing by what was not measured', () => {
    expect(verdictOf([], 0.03)).toBe('not measurable here')
    expect(verdictOf(rounds(30, 0.5), Number.NaN)).toBe('not measurable here')
  })
})

describe('isSettled', () => {
  test('is true where all values of ten are 10 % from the mark, on one side', () => {
    expect(isSettled(between(10, 0.7, 0.89), 0.03)).toBe(true)
    expect(isSettled(between(10, 1.11, 1.3), 0.03)).toBe(true)
    expect(isSettled(between(10, 0.7, 0.91), 0.03)).toBe(false)
    expect(isSettled(between(10, 0.7, 1.3), 0.03)).toBe(false)
  })

  test('lets a value or two of more rounds lie apart', () => {
    expect(isSettled([1.4, 1.3, ...rounds(18, 0.8)], 0.03)).toBe(true)
  })

  test('is false where the server is as far from itself, or nobody knows', () => {
    expect(isSettled(rounds(10, 0.8), 0.25)).toBe(false)
    expect(isSettled(rounds(10, 0.8), Number.NaN)).toBe(false)
  })

  test('looks after 10, 15, 20 and 25 rounds alone', () => {
    expect([9, 10, 11, 15, 20, 25, 30].filter((count) => isSettled(rounds(count, 0.5), 0.01))).toEqual([
      10, 15, 20, 25,
    ])
  })
})
