import { expect, test } from 'vitest'
import { shortId } from './short-id.ts'

test('returns the first 12 digits of an id', () => {
  expect(shortId('5f0007e431dda008a67e83e30e2079a4')).toBe('5f0007e431dd')
})
