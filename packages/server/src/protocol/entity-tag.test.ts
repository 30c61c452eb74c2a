import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { entityTagOf, matchesStrongly, matchesWeakly } from './entity-tag.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'

const ours = '"abc"'

describe('entityTagOf', () => {
  test('returns the first 128 bits of the digest in quotes', () => {
    expect(entityTagOf('00ff'.repeat(16))).toBe('"AP8A_wD_AP8A_wD_AP8A_w"')
  })

  test('returns a strong tag that both comparisons match', () => {
    const digest = fc
      .uint8Array({ minLength: 32, maxLength: 32 })
      .map((bytes) => Buffer.from(bytes).toString('hex'))
    fc.assert(
      fc.property(digest, (sha256) => {
        const tag = entityTagOf(sha256)
        expect(tag).toMatch(/^"[\w-]{22}"$/)
        expect(matchesWeakly(`"x", ${tag}`, tag) && matchesStrongly(`"x", ${tag}`, tag)).toBe(true)
      }),
    )
  })
})

describe.each([
  ['matchesWeakly', matchesWeakly],
  ['matchesStrongly', matchesStrongly],
])('%s', (_name, matches) => {
  test.each([
    ['the tag', '"abc"'],
    ['any', '*'],
    ['the first of a list', '"abc", "x"'],
    ['the last of a list', '"x", "y","abc"'],
    ['a list with weak tags', 'W/"x", "abc"'],
    ['a list with empty members', ', ,"abc",,'],
    ['a list after a tag that contains a comma', '"a,b", "abc"'],
    ['a list after a tag that contains a part of another', '"x,W/", "abc"'],
    ['a list after an empty tag', '"", "abc"'],
    ['a list after obs-text', '"\u00e9", "abc"'],
    ['tabs between', '"x"\t,\t"abc"\t'],
  ])('finds the tag as %s', (_what, field) => {
    expect(matches(field, ours)).toBe(true)
  })

  test.each([
    ['another', '"abd"'],
    ['a part of another tag', '"abc'],
    ['without quotes', 'abc'],
    ['another case', '"ABC"'],
    ['inside another tag', '"x,abc"'],
    ['split by a comma inside a tag', '"x, "abc'],
    ['an empty field', ''],
    ['a list with a wildcard', '"x", *'],
    ['a lower-case weakness', 'w/"abc"'],
    ['a space in a tag', '" abc"'],
    ['malformed text before the tag', 'junk, "abc"'],
    ['a list without a comma', '"x" "abc"'],
  ])('does not find the tag in %s', (_what, field) => {
    expect(matches(field, ours)).toBe(false)
  })

  test('matches in any text only if the tag is a member', () => {
    const likely = fc
      .array(fc.constantFrom('"abc"', 'W/', '"', ',', ' ', '*', 'abc', '"x"', '\t'))
      .map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), likely), (field) => {
        expect(!matches(field, ours) || field === '*' || field.includes(ours)).toBe(true)
      }),
    )
  })

  test('parses 100 KB in linear time', () => {
    for (const field of hostileTexts(
      ['"', 'W/', '"",', '"a" ', '"a",', ' ', ',', 'a', ', '],
      ['', '"', '"x"'],
    )) {
      expect(millisecondsOf(() => matches(field, ours))).toBeLessThan(linearTimeLimit)
    }
  })
})

describe('weakness', () => {
  test.each(['W/"abc"', 'W/"x", W/"abc"', 'W/"abc", "x"'])('matches %s weakly, never strongly', (field) => {
    expect(matchesWeakly(field, ours)).toBe(true)
    expect(matchesStrongly(field, ours)).toBe(false)
  })
})
