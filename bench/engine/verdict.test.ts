import { describe, expect, test } from 'vitest'
import { estimateMedian, isSettled, resolutionOf, verdictOf } from './verdict.ts'

function rounds(count: number, share: number): number[] {
  return Array.from({ length: count }, () => share)
}

/** Returns evenly spaced values from the first to the last. */
function between(count: number, first: number, last: number): number[] {
  return Array.from({ length: count }, (_, index) => first + ((last - first) * index) / (count - 1))
}

describe('estimate', () => {
  test('spans all of three values, and the tenth to the twenty-first of thirty', () => {
    expect(estimateMedian([3, 1, 2])).toEqual({ median: 2, low: 1, high: 3 })
    expect(estimateMedian(between(30, 1, 30))).toEqual({ median: 15.5, low: 10, high: 21 })
  })

  test('spans more values for a smaller doubt', () => {
    expect(estimateMedian(between(10, 1, 10))).toEqual({ median: 5.5, low: 2, high: 9 })
    expect(estimateMedian(between(10, 1, 10), 0.01)).toEqual({ median: 5.5, low: 1, high: 10 })
  })
})

describe('resolutionOf', () => {
  test('is the largest distance from 1 of the ratio of a server to itself', () => {
    expect(resolutionOf({ median: 1.01, low: 0.97, high: 1.02 })).toBeCloseTo(0.03)
  })
})

describe('verdictOf', () => {
  test('judges only differences above the resolution', () => {
    expect(verdictOf(rounds(30, 0.92), 0.03)).toBe('met')
    expect(verdictOf(rounds(30, 1.09), 0.03)).toBe('missed')
    expect(verdictOf(rounds(30, 0.99), 0.03)).toBe('not measurable here')
  })

  test('judges a difference below 10 % only from 30 rounds on, and nothing below 5', () => {
    expect(verdictOf(rounds(29, 0.92), 0.03)).toBe('not measurable here')
    expect(verdictOf(rounds(5, 0.6), 0.03)).toBe('met')
    expect(verdictOf(rounds(4, 0.6), 0.03)).toBe('not measurable here')
  })

  test('judges nothing without rounds or without a resolution', () => {
    expect(verdictOf([], 0.03)).toBe('not measurable here')
    expect(verdictOf(rounds(30, 0.5), Number.NaN)).toBe('not measurable here')
  })
})

describe('isSettled', () => {
  test('is true if all ten values are at least 10 % from the mark, on one side', () => {
    expect(isSettled(between(10, 0.7, 0.89), 0.03)).toBe(true)
    expect(isSettled(between(10, 1.11, 1.3), 0.03)).toBe(true)
    expect(isSettled(between(10, 0.7, 0.91), 0.03)).toBe(false)
    expect(isSettled(between(10, 0.7, 1.3), 0.03)).toBe(false)
  })

  test('ignores two outliers of twenty values', () => {
    expect(isSettled([1.4, 1.3, ...rounds(18, 0.8)], 0.03)).toBe(true)
  })

  test('is false if the resolution is as large as the distance, or unknown', () => {
    expect(isSettled(rounds(10, 0.8), 0.25)).toBe(false)
    expect(isSettled(rounds(10, 0.8), Number.NaN)).toBe(false)
  })

  test('is true only after 10, 15, 20 and 25 rounds', () => {
    expect([9, 10, 11, 15, 20, 25, 30].filter((count) => isSettled(rounds(count, 0.5), 0.01))).toEqual([
      10, 15, 20, 25,
    ])
  })
})
