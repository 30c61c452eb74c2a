import fc from 'fast-check'
import Negotiator from 'negotiator'
import { describe, expect, test } from 'vitest'
import { isNavigation } from './is-navigation.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'
import { createRequestFields } from '../../test/support/create-request-fields.ts'

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'

describe('isNavigation', () => {
  test.each([
    ['a browser that sends Sec-Fetch-Mode', { secFetchMode: 'navigate', accept: browser }],
    ['Sec-Fetch-Mode alone', { secFetchMode: 'navigate' }],
    ['a browser that does not', { accept: browser }],
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
    ['fetch() that wants HTML', { secFetchMode: 'cors', accept: 'text/html' }],
    ['a script or style sheet', { secFetchMode: 'no-cors', accept: browser }],
    ['a client that takes anything', { accept: '*/*' }],
    ['a wildcard of text', { accept: 'text/*' }],
    ['HTML refused', { accept: 'text/html;q=0, */*' }],
    ['HTML refused in three digits', { accept: 'text/html; Q=0.000' }],
    ['a longer type', { accept: 'text/html-sandboxed' }],
    ['HTML as a parameter', { accept: 'text/plain;a=text/html' }],
    ['another method', { method: 'POST', accept: browser, secFetchMode: 'navigate' }],
  ])('is false for %s', (_what, given) => {
    expect(isNavigation(createRequestFields(given))).toBe(false)
  })

  // Wildcards are left out: negotiator lets them stand for text/html, as §12.5.1 says; we ask for the
  // type by name, since every fetch() accepts */*.
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

  test('reads 100 KB of anything in linear time', () => {
    for (const accept of hostileTexts([',', ';', 'text/html;q=0,', ' ', 'a', 'q=0;'], ['', 'text/html;'])) {
      expect(millisecondsOf(() => isNavigation(createRequestFields({ accept })))).toBeLessThan(
        linearTimeLimit,
      )
    }
  })
})
