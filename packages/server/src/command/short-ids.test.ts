import { describe, expect, test } from 'vitest'
import { shortIds } from './short-ids.ts'

const ids = [
  '5f0007e431dda008a67e83e30e2079a4',
  '5f0007e431ddffff0000000000000000',
  'c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1',
]

describe('shortIds', () => {
  test('takes as many digits as tell all apart, eight at least', () => {
    expect(ids.slice(1).map(shortIds(ids.slice(1)))).toEqual(['5f0007e4', 'c1c1c1c1'])
    expect(ids.map(shortIds(ids))).toEqual(['5f0007e431dda', '5f0007e431ddf', 'c1c1c1c1c1c1c'])
  })

  test('takes a build that is there twice for one', () => {
    expect(shortIds(['a'.repeat(32), 'a'.repeat(32)])('a'.repeat(32))).toBe('aaaaaaaa')
  })
})
