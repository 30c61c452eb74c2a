import fc from 'fast-check'
import Negotiator from 'negotiator'
import { describe, expect, test } from 'vitest'
import { isNavigation } from './is-navigation.ts'
import type { RequestFields } from './request-fields.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'
import { createRequestFields } from '../../test/support/create-request-fields.ts'

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'

/** Returns the answers for a path without a dot and for a path with one. */
function answersFor(given: Partial<RequestFields>): boolean[] {
  const request = createRequestFields(given)
  return ['/settings', '/users/jane.doe'].map((path) => isNavigation(request, path))
}

describe('isNavigation', () => {
  test.each([
    ['a browser with Sec-Fetch-Mode', { secFetchMode: 'navigate', accept: browser }],
    ['Sec-Fetch-Mode alone', { secFetchMode: 'navigate' }],
    ['a browser without Sec-Fetch-Mode', { accept: browser }],
    ['HEAD', { method: 'HEAD', accept: browser }],
    ['text/html last', { accept: 'application/json, text/html' }],
    ['upper case', { accept: 'Text/HTML' }],
    ['parameters', { accept: 'text/html ; charset=utf-8 ; q=0.1' }],
  ])('is true for %s, with and without a dot in the path', (_what, given) => {
    expect(answersFor(given)).toEqual([true, true])
  })

  test.each([
    ['no field at all', {}],
    ['HEAD without a field', { method: 'HEAD' }],
    ['a client that accepts any type, such as curl', { accept: '*/*' }],
    ['any type among others', { accept: 'application/json, */* ; q=0.1' }],
  ])('is true for %s only if the last segment has no dot', (_what, given) => {
    expect(answersFor(given)).toEqual([true, false])
  })

  test.each([
    ['/', true],
    ['/settings', true],
    ['/v1.2/settings', true],
    ['/v1.2/', true],
    ['/jane.doe', false],
    ['/v1/.well-known', false],
  ])('looks for a dot in the last segment only: %s is %s', (path, expected) => {
    expect(isNavigation(createRequestFields({ accept: '*/*' }), path)).toBe(expected)
  })

  test.each([
    ['fetch()', { secFetchMode: 'cors', accept: '*/*' }],
    ['fetch() that accepts HTML', { secFetchMode: 'cors', accept: 'text/html' }],
    ['a script or style sheet', { secFetchMode: 'no-cors', accept: browser }],
    ['fetch() of any type', { secFetchMode: 'same-origin', accept: '*/*' }],
    ['any type, refused', { accept: 'application/json, */*;q=0' }],
    ['an empty list of types', { accept: '' }],
    ['a wildcard of text', { accept: 'text/*' }],
    ['HTML refused', { accept: 'text/html;q=0, */*' }],
    ['HTML refused with three digits', { accept: 'text/html; Q=0.000' }],
    ['a longer type', { accept: 'text/html-sandboxed' }],
    ['HTML as a parameter', { accept: 'text/plain;a=text/html' }],
    ['another method', { method: 'POST', accept: browser, secFetchMode: 'navigate' }],
  ])('is false for %s', (_what, given) => {
    expect(answersFor(given)).toEqual([false, false])
  })

  // Excludes wildcards, which negotiator lets match text/html for every path (§12.5.1).
  test('agrees with negotiator on fields without wildcards', () => {
    const type = fc.constantFrom('text/html', 'TEXT/html', 'application/json', 'text/plain', 'image/png')
    const weight = fc.constantFrom('', ';q=0', ';q=0.5', '; q=1', ';q=0.0')
    const members = fc.uniqueArray(fc.tuple(type, weight), {
      selector: ([name]) => name.toLowerCase(),
      minLength: 1,
    })
    fc.assert(
      fc.property(members, (list) => {
        const accept = list.map(([name, q]) => name + q).join(', ')
        const accepted = new Negotiator({ headers: { accept } }).mediaTypes(['text/html']).length > 0
        expect([accept, answersFor({ accept })]).toEqual([accept, [accepted, accepted]])
      }),
    )
  })

  test('parses 100 KB in linear time', () => {
    for (const accept of hostileTexts(
      [',', ', ', ';', '; ', 'text/html;q=0,', ' ', 'a', 'q=0;'],
      ['', 'text/html;', 'text/html,'],
    )) {
      const request = createRequestFields({ accept })
      expect(millisecondsOf(() => isNavigation(request, '/'))).toBeLessThan(linearTimeLimit)
    }
  })
})
