import { describe, expect, test } from 'vitest'
import { countFailures, restartDelay } from './restart-policy.ts'

describe('countFailures', () => {
  test('counts short-lived workers', () => {
    expect(countFailures(0, 10)).toBe(1)
    expect(countFailures(4, 29_999)).toBe(5)
  })

  test('starts again after a worker that lived for 30 seconds', () => {
    expect(countFailures(4, 30_000)).toBe(1)
  })
})

describe('restartDelay', () => {
  test.each([
    [1, 100],
    [2, 200],
    [3, 400],
    [7, 6400],
    [8, 10_000],
    [2000, 10_000],
  ])('returns, after %d failures, %d ms', (failures, milliseconds) => {
    expect(restartDelay(failures)).toBe(milliseconds)
  })
})
