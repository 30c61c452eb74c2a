import fc from 'fast-check'
import parseRange from 'range-parser'
import { describe, expect, test } from 'vitest'
import { parseByteRange } from './byte-range.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'

const beyond53Bits = '9007199254740993'
const hundredDigits = '9'.repeat(100)

describe('parseByteRange', () => {
  test.each([
    ['the first byte', 'bytes=0-0', { first: 0, last: 0 }],
    ['a middle', 'bytes=2-5', { first: 2, last: 5 }],
    ['an open end', 'bytes=4-', { first: 4, last: 9 }],
    ['the last byte', 'bytes=9-9', { first: 9, last: 9 }],
    ['an end beyond the size', 'bytes=4-100', { first: 4, last: 9 }],
    ['an end beyond 2^53', `bytes=4-${beyond53Bits}`, { first: 4, last: 9 }],
    ['an end of a hundred digits', `bytes=4-${hundredDigits}`, { first: 4, last: 9 }],
    ['an end of 400 digits, beyond any number', `bytes=4-${'9'.repeat(400)}`, { first: 4, last: 9 }],
    ['a suffix', 'bytes=-3', { first: 7, last: 9 }],
    ['a suffix of the whole file', 'bytes=-10', { first: 0, last: 9 }],
    ['a suffix longer than the file', 'bytes=-11', { first: 0, last: 9 }],
    ['a suffix beyond 2^53', `bytes=-${beyond53Bits}`, { first: 0, last: 9 }],
    ['leading zeros', 'bytes=0002-0005', { first: 2, last: 5 }],
    ['an upper-case unit (RFC 9110 §14.1)', 'Bytes=2-5', { first: 2, last: 5 }],
    ['white space around the only member', 'bytes= 2-5\t', { first: 2, last: 5 }],
    ['empty members next to the only one (RFC 9110 §5.6.1)', 'bytes=,2-5, ,', { first: 2, last: 5 }],
  ])('reads %s', (_what, field, range) => {
    expect(parseByteRange(field, 10)).toEqual(range)
  })

  test.each([
    ['a first byte at the size', 'bytes=10-', 10],
    ['a first byte beyond the size', 'bytes=11-12', 10],
    ['a first byte beyond 2^53', `bytes=${beyond53Bits}-`, 10],
    ['ends beyond any number, in order', `bytes=${'8'.repeat(400)}-${'9'.repeat(400)}`, 10],
    ['an empty suffix', 'bytes=-0', 10],
    ['an empty suffix with many digits', 'bytes=-000', 10],
    ['any first byte of an empty file', 'bytes=0-0', 0],
    ['an empty suffix of an empty file', 'bytes=-0', 0],
  ])('finds %s unsatisfiable', (_what, field, size) => {
    expect(parseByteRange(field, size)).toBe('unsatisfiable')
  })

  test.each([
    ['several ranges', 'bytes=0-1,3-4'],
    ['several ranges that overlap', 'bytes=0-5, 2-7'],
    ['another unit', 'items=0-1'],
    ['a first byte beyond the last', 'bytes=5-2'],
    ['a first byte beyond the last by one, above 2^53', 'bytes=9007199254740993-9007199254740992'],
    ['a first byte beyond the last, beyond any number', `bytes=${'9'.repeat(400)}-${'8'.repeat(400)}`],
    ['no number', 'bytes=-'],
    ['no dash', 'bytes=5'],
    ['a sign', 'bytes=--5'],
    ['a plus', 'bytes=+1-5'],
    ['a fraction', 'bytes=1.5-5'],
    ['hexadecimal', 'bytes=0x1-5'],
    ['white space in the range', 'bytes=1 - 5'],
    ['white space before the sign', 'bytes =1-5'],
    ['no unit', '1-5'],
    ['an empty field', ''],
    ['digits of another script', 'bytes=\u0661-\u0662'],
  ])('ignores %s', (_what, field) => {
    expect(parseByteRange(field, 10)).toBeUndefined()
  })

  test('ignores a suffix of an empty file, which Content-Range cannot express', () => {
    expect(parseByteRange('bytes=-5', 0)).toBeUndefined()
  })

  test('returns existing bytes for any text', () => {
    const likely = fc
      .array(fc.constantFrom('bytes=', '-', ',', ' ', '0', '1', '9', beyond53Bits), { maxLength: 8 })
      .map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(fc.oneof(fc.string(), likely), fc.nat(2000), (field, size) => {
        const range = parseByteRange(field, size)
        if (range === undefined || range === 'unsatisfiable') return
        expect(Number.isInteger(range.first) && Number.isInteger(range.last)).toBe(true)
        expect(range.first >= 0 && range.first <= range.last && range.last < size).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  test('parses 100 KB in linear time', () => {
    for (const field of hostileTexts(
      ['0', '9', ' ', ',', '-', '1-2,', ' ,'],
      ['', 'bytes=', 'bytes=1-', 'bytes=-'],
    )) {
      expect(millisecondsOf(() => parseByteRange(field, 10))).toBeLessThan(linearTimeLimit)
    }
  })

  // range-parser calls all of these unsatisfiable:
  // - §14.1.1: a last position below the first is invalid, hence the field is ignored;
  // - §14.1.2: a suffix longer than the representation means the whole representation.
  test('agrees with range-parser on a single range, except where RFC 9110 differs', () => {
    const position = fc.oneof(fc.nat(30), fc.constant(2 ** 53), fc.constant(2 ** 60)).map(String)
    const range = fc.oneof(
      fc.tuple(position, position),
      fc.tuple(position, fc.constant('')),
      fc.tuple(fc.constant(''), position),
    )
    fc.assert(
      fc.property(range, fc.nat(20), ([first, last], size) => {
        const isInvalid = first !== '' && last !== '' && Number(last) < Number(first)
        const isLongSuffix = first === '' && Number(last) > size
        fc.pre(!isInvalid && !isLongSuffix)
        const field = `bytes=${first}-${last}`
        const [parsed] = [parseRange(size, field)].flat()
        const expected =
          typeof parsed === 'object' ? { first: parsed.start, last: parsed.end } : 'unsatisfiable'
        expect([field, size, parseByteRange(field, size)]).toEqual([field, size, expected])
      }),
      { numRuns: 2000 },
    )
  })
})
