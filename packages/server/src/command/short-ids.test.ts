import { describe, expect, test } from 'vitest'
import { shortIds } from './short-ids.ts'

const ids = [
  '5f0007e431dda008a67e83e30e2079a4',
  '5f0007e431ddffff0000000000000000',
  'c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1',
]

describe('shortIds', () => {
  test('keeps the digits that tell all ids apart, and at least eight', () => {
    expect(ids.slice(1).map(shortIds(ids.slice(1)))).toEqual(['5f0007e4', 'c1c1c1c1'])
    expect(ids.map(shortIds(ids))).toEqual(['5f0007e431dda', '5f0007e431ddf', 'c1c1c1c1c1c1c'])
  })

  test('ignores duplicates', () => {
    expect(shortIds(['a'.repeat(32), 'a'.repeat(32)])('a'.repeat(32))).toBe('aaaaaaaa')
  })
})
