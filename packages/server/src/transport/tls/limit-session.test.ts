import { describe, expect, test } from 'vitest'
import { createRateLimiter } from './limit-session.ts'

describe('createRateLimiter', () => {
  test('lets a burst through, then says of each that it is too many', () => {
    const isTooMany = createRateLimiter({ burst: 3, perSecond: 1 }, 0)
    expect([0, 0, 0, 0, 0].map((time) => isTooMany(time))).toEqual([false, false, false, true, true])
  })

  test('lets so many through each second for ever', () => {
    const isTooMany = createRateLimiter({ burst: 2, perSecond: 10 }, 0)
    const answers = Array.from({ length: 1000 }, (_, index) => isTooMany(index * 100))
    expect(answers.includes(true)).toBe(false)
  })

  test('fills up to the burst and no further', () => {
    const isTooMany = createRateLimiter({ burst: 2, perSecond: 10 }, 0)
    isTooMany(0)
    isTooMany(0)
    expect([1e6, 1e6, 1e6].map((time) => isTooMany(time))).toEqual([false, false, true])
  })
})
