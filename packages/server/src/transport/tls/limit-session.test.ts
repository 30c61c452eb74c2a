import { describe, expect, test } from 'vitest'
import { createRateLimiter } from './limit-session.ts'

describe('createRateLimiter', () => {
  test('permits a burst and then reports each event', () => {
    const isTooMany = createRateLimiter({ burst: 3, perSecond: 1 }, 0)
    expect([0, 0, 0, 0, 0].map((time) => isTooMany(time))).toEqual([false, false, false, true, true])
  })

  test('permits a constant rate indefinitely', () => {
    const isTooMany = createRateLimiter({ burst: 2, perSecond: 10 }, 0)
    const answers = Array.from({ length: 1000 }, (_, index) => isTooMany(index * 100))
    expect(answers.includes(true)).toBe(false)
  })

  test('refills up to the burst only', () => {
    const isTooMany = createRateLimiter({ burst: 2, perSecond: 10 }, 0)
    isTooMany(0)
    isTooMany(0)
    expect([1e6, 1e6, 1e6].map((time) => isTooMany(time))).toEqual([false, false, true])
  })
})
