import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { byteSizeOf, formatBytes } from './byte-size.ts'

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
  ])('parses %j as %d bytes', (size, bytes) => {
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
  ])('rejects %j', (size) => {
    expect(byteSizeOf(size)).toBeUndefined()
  })
})

describe('formatBytes', () => {
  test.each([
    [0, '0 B'],
    [1, '1 B'],
    [999, '999 B'],
    [1000, '1.0 kB'],
    [1234, '1.2 kB'],
    [999_949, '999.9 kB'],
    [1_000_000, '1.0 MB'],
    [67_108_864, '67.1 MB'],
    [2_500_000_000, '2.5 GB'],
    [7_200_000_000_000, '7200.0 GB'],
  ])('formats %d as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text)
  })

  test('uses the largest possible unit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 999_000_000_000 }), (bytes) => {
        expect(formatBytes(bytes)).toMatch(/^\d{1,3}(?:\.\d)? (?:B|kB|MB|GB)$/)
      }),
      { examples: [[999_999], [999_950], [999_999_999], [1000]] },
    )
  })
})
