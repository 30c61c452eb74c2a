import { describe, expect, test } from 'vitest'
import { cacheUseOf } from './exchange.ts'

describe('cacheUseOf', () => {
  test.each([
    ['public, max-age=31536000, immutable', 'immutable'],
    ['no-cache', 'revalidate'],
    ['NO-STORE', 'no-store'],
    ['private, no-cache, no-store', 'no-store'],
    ['public, max-age=300', 'other'],
    [undefined, 'other'],
  ])('%j: %s', (value, expected) => {
    expect(cacheUseOf(value)).toBe(expected)
  })
})
