import fc from 'fast-check'
import Negotiator from 'negotiator'
import { describe, expect, test } from 'vitest'
import { isNavigation } from './is-navigation.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'
import { createRequestFields } from '../../test/support/create-request-fields.ts'

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'

describe('isNavigation', () => {
  test.each([
    ['a browser with Sec-Fetch-Mode', { secFetchMode: 'navigate', accept: browser }],
    ['Sec-Fetch-Mode alone', { secFetchMode: 'navigate' }],
    ['a browser without Sec-Fetch-Mode', { accept: browser }],
    ['HEAD', { method: 'HEAD', accept: browser }],
    ['text/html last', { accept: 'application/json, text/html' }],
    ['upper case', { accept: 'Text/HTML' }],
    ['parameters', { accept: 'text/html ; charset=utf-8 ; q=0.1' }],
  ])('is true for %s', (_what, given) => {
    expect(isNavigation(createRequestFields(given))).toBe(true)
  })

  test.each([
    ['no field at all', {}],
    ['fetch()', { secFetchMode: 'cors', accept: '*/*' }],
    ['fetch() that accepts HTML', { secFetchMode: 'cors', accept: 'text/html' }],
    ['a script or style sheet', { secFetchMode: 'no-cors', accept: browser }],
    ['a client that accepts any type', { accept: '*/*' }],
    ['a wildcard of text', { accept: 'text/*' }],
    ['HTML refused', { accept: 'text/html;q=0, */*' }],
    ['HTML refused with three digits', { accept: 'text/html; Q=0.000' }],
    ['a longer type', { accept: 'text/html-sandboxed' }],
    ['HTML as a parameter', { accept: 'text/plain;a=text/html' }],
    ['another method', { method: 'POST', accept: browser, secFetchMode: 'navigate' }],
  ])('is false for %s', (_what, given) => {
    expect(isNavigation(createRequestFields(given))).toBe(false)
  })

  // Excludes wildcards: negotiator lets them match text/html (§12.5.1), but every fetch() accepts */*,
  // which is why we require the type by name.
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
        expect([accept, isNavigation(createRequestFields({ accept }))]).toEqual([accept, accepted])
      }),
    )
  })

  test('parses 100 KB in linear time', () => {
    for (const accept of hostileTexts([',', ';', 'text/html;q=0,', ' ', 'a', 'q=0;'], ['', 'text/html;'])) {
      expect(millisecondsOf(() => isNavigation(createRequestFields({ accept })))).toBeLessThan(
        linearTimeLimit,
      )
    }
  })
})
