import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codingWeights, parseAcceptEncoding } from './accept-encoding.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'

const unnamed = 1
const allWeights = new Set([unnamed, ...Array.from({ length: 1001 }, (_, thousandths) => thousandths * 10)])
const none = { zstd: 0, br: 0, gzip: 0, dcb: 0, dcz: 0, identity: unnamed }

describe('parseAcceptEncoding', () => {
  test.each([
    ['an absent field', undefined, none],
    ['an empty field', '', none],
    ['a coding', 'gzip', { ...none, gzip: 10000 }],
    ['the field of browsers', 'gzip, deflate, br, zstd', { ...none, zstd: 10000, br: 10000, gzip: 10000 }],
    ['no white space', 'gzip,br', { ...none, br: 10000, gzip: 10000 }],
    ['tabs and spaces', '\tgzip \t, br\t;\tq=0.5', { ...none, br: 5000, gzip: 10000 }],
    ['upper case', 'GZIP;Q=0.5, Br', { ...none, br: 10000, gzip: 5000 }],
    ['x-gzip as gzip (RFC 9110 §8.4.1.3)', 'X-Gzip', { ...none, gzip: 10000 }],
    ['q-values of each length', 'zstd;q=0.123, br;q=0.1, gzip;q=0.', { ...none, zstd: 1230, br: 1000 }],
    [
      'a q-value of one in each length',
      'zstd;q=1, br;q=1., gzip;q=1.000',
      { ...none, zstd: 10000, br: 10000, gzip: 10000 },
    ],
    ['q=0 as a refusal', 'br;q=0, gzip', { ...none, gzip: 10000 }],
    [
      'a wildcard for unnamed codings',
      'br;q=0.2, *;q=0.7',
      { ...none, zstd: 7000, br: 2000, gzip: 7000, identity: 7000 },
    ],
    ['a wildcard that refuses all other codings', 'br, *;q=0', { ...none, br: 10000, identity: 0 }],
    ['a wildcard that refuses all codings but identity', 'identity, *;q=0', { ...none, identity: 10000 }],
    ['identity refused', 'identity;q=0', { ...none, identity: 0 }],
    ['identity with a lower weight', 'identity;q=0.5, gzip', { ...none, gzip: 10000, identity: 5000 }],
    ['the higher q-value of a coding named twice', 'br;q=0.1, br;q=0.9, br;q=0.5', { ...none, br: 9000 }],
    ['a coding whose name contains another name', 'gzipped, brotli, xbr', none],
    [
      'codings with a dictionary only by name',
      'dcb;q=0.5, DCZ, *',
      { zstd: 10000, br: 10000, gzip: 10000, dcb: 5000, dcz: 10000, identity: 10000 },
    ],
    ['empty members', ',, ,gzip,,', { ...none, gzip: 10000 }],
  ])('reads %s', (_what, field, weights) => {
    expect(parseAcceptEncoding(field)).toEqual(weights)
  })

  test.each([
    ['a q-value above 1', 'br;q=1.5'],
    ['a q-value that slightly exceeds 1', 'br;q=1.001'],
    ['four digits', 'br;q=0.1234'],
    ['a sign', 'br;q=-1'],
    ['an exponent', 'br;q=1e0'],
    ['no digit', 'br;q='],
    ['a leading point', 'br;q=.5'],
    ['another parameter', 'br;level=5'],
    ['a parameter after the q-value', 'br;q=0.5;level=5'],
    ['two tokens', 'br br'],
    ['a separator in its name', 'br/1'],
    ['a quoted coding', '"br"'],
  ])('ignores a member with %s and keeps the others', (_what, member) => {
    expect(parseAcceptEncoding(`${member}, gzip;q=0.3`)).toEqual({ ...none, gzip: 3000 })
  })

  test('returns weights within bounds for any text', () => {
    const likely = fc
      .array(fc.constantFrom('gzip', 'br', 'zstd', '*', 'identity', ';', 'q=', '0', '1', '.', ',', ' ', '"'))
      .map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), likely), (field) => {
        const weights = Object.values(parseAcceptEncoding(field))
        expect(weights.every((weight) => allWeights.has(weight))).toBe(true)
      }),
    )
  })

  const hostile = hostileTexts(
    ['a', ' ', ',', ';', 'gzip,', 'gzip;q=0.', 'gzip;q=0.5,', 'br ;', '*;q=1,'],
    ['', 'gzip', 'br;q=0.'],
  )
  test('parses 100 KB in linear time', () => {
    for (const field of hostile) {
      expect(millisecondsOf(() => parseAcceptEncoding(field))).toBeLessThan(linearTimeLimit)
    }
  })
})

describe('codingWeights', () => {
  test('returns the results of parseAcceptEncoding in any order and number of calls', () => {
    // More fields than the cache holds, some of them longer than it permits.
    const fields = Array.from({ length: 600 }, (_, index) => `gzip;q=0.${index}${', br'.repeat(index % 90)}`)
    fc.assert(
      fc.property(fc.array(fc.constantFrom(undefined, '', ...fields), { maxLength: 50 }), (asked) => {
        for (const field of [...asked, ...asked]) {
          expect(codingWeights(field)).toEqual(parseAcceptEncoding(field))
        }
      }),
    )
  })
})
