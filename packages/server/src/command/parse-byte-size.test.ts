import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseByteSize } from './parse-byte-size.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'

describe('parseByteSize', () => {
  test.each([
    ['0', 0],
    ['65536', 65_536],
    ['64k', 65_536],
    ['64K', 65_536],
    ['64kb', 65_536],
    ['64 KiB', 65_536],
    ['1.5m', 1_572_864],
    ['2GB', 2_147_483_648],
    [' 10 b ', 10],
    ['0.3', 0],
  ])('reads %j as %d bytes', (text, bytes) => {
    expect(parseByteSize(text)).toBe(bytes)
  })

  test.each([
    '',
    'k',
    '-1',
    '+1',
    '1e3',
    '1.',
    '.5',
    '64x',
    '64 k b',
    '1 000',
    '1,5m',
    '0x10',
    'Infinity',
    '64kk',
    '9'.repeat(400),
  ])('refuses %j and shows what is expected', (text) => {
    expect(() => parseByteSize(text)).toThrow(
      new TypeError(`expected a size such as 65536, 64k or 1.5m, found "${text}"`),
    )
  })

  test('answers whole bytes or a TypeError to any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d.]{1,9} ?[kmgKib]{0,3}$/)), (text) => {
        const outcome = attempt(text)
        expect(outcome instanceof TypeError || Number.isSafeInteger(outcome)).toBe(true)
      }),
    )
  })

  test('reads 100 KB of anything in linear time', () => {
    for (const text of hostileTexts(['1.', '1 ', 'k', '1k'], ['', '1', '1.1'])) {
      const milliseconds = millisecondsOf(() => {
        expect(() => parseByteSize(text)).toThrow(TypeError)
      })
      expect(milliseconds).toBeLessThan(linearTimeLimit)
    }
  })
})

function attempt(text: string): unknown {
  try {
    return parseByteSize(text)
  } catch (error) {
    return error
  }
}
