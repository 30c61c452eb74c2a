import { describe, expect, test } from 'vitest'
import { classifyCacheControl } from './exchange.ts'

describe('classifyCacheControl', () => {
  test.each([
    ['public, max-age=31536000, immutable', 'immutable'],
    ['no-cache', 'revalidate'],
    ['NO-STORE', 'no-store'],
    ['private, no-cache, no-store', 'no-store'],
    ['public, max-age=300', 'other'],
    [undefined, 'other'],
  ])('classifies %j as %s', (value, expected) => {
    expect(classifyCacheControl(value)).toBe(expected)
  })
})
