import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseAcceptEncoding } from './accept-encoding.ts'
import { codingWeights } from './coding-weights.ts'

describe('codingWeights', () => {
  test('answers what parseAcceptEncoding answers, however often and in whatever order it is asked', () => {
    // More fields than it remembers, some of them longer than it keeps.
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
