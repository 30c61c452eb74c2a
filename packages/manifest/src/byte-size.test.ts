import { describe, expect, test } from 'vitest'
import { byteSizeOf } from './byte-size.ts'

describe('byteSizeOf', () => {
  test.each([
    [1024, 1024],
    ['1024', 1024],
    ['1kb', 1000],
    ['1 kB', 1000],
    ['1k', 1024],
    ['1KiB', 1024],
    ['1.5 MB', 1_500_000],
    ['64m', 67_108_864],
    ['2gib', 2_147_483_648],
    [' 10 b ', 10],
    ['0', 0],
    [Infinity, Infinity],
  ])('reads %j as %d bytes', (size, bytes) => {
    expect(byteSizeOf(size)).toBe(bytes)
  })

  test.each([
    -1,
    1.5,
    Number.NaN,
    '',
    'kb',
    '1 000',
    '1e3',
    '-1kb',
    '1tb',
    'Infinity',
    undefined,
    null,
    ['1kb'],
  ])('refuses %j', (size) => {
    expect(byteSizeOf(size)).toBeUndefined()
  })
})
