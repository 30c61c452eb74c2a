import fc from 'fast-check'
import fresh from 'fresh'
import { describe, expect, test } from 'vitest'
import { evaluatePreconditions, ifRangeHolds } from './evaluate-preconditions.ts'
import { formatHttpDate } from '../protocol/http-date.ts'
import { notModifiedAnswer, okAnswer } from './representation-answers.ts'
import { fakeSite, resourceAt } from '../../test/support/fake-site.ts'
import { createRequestFields } from '../../test/support/create-request-fields.ts'

const lastModified = '2026-01-31T12:00:00Z'
const exactly = 'Sat, 31 Jan 2026 12:00:00 GMT'
const before = 'Sat, 31 Jan 2026 11:59:59 GMT'
const after = 'Sat, 31 Jan 2026 12:00:01 GMT'
const resource = resourceAt(
  fakeSite({ 'a.js': { body: 'identity', variants: { br: 'br' }, lastModified } }),
  '/a.js',
)
const { identity } = resource
const [br = identity] = resource.representations
const tag = identity.entityTag

describe('evaluatePreconditions', () => {
  test.each([
    ['If-Match with the tag of this representation', { ifMatch: tag }, undefined],
    ['If-Match with *', { ifMatch: '*' }, undefined],
    ['If-Match with a list', { ifMatch: `"x", ${tag}` }, undefined],
    ['If-Match with another tag', { ifMatch: '"x"' }, 412],
    ['If-Match with the weak tag', { ifMatch: `W/${tag}` }, 412],
    ['If-Match with the tag of another coding of the resource', { ifMatch: br.entityTag }, 412],
    ['If-Unmodified-Since with the same time', { ifUnmodifiedSince: exactly }, undefined],
    ['If-Unmodified-Since with a later time', { ifUnmodifiedSince: after }, undefined],
    ['If-Unmodified-Since with an earlier time', { ifUnmodifiedSince: before }, 412],
    [
      'If-Unmodified-Since in the RFC 850 form',
      { ifUnmodifiedSince: 'Saturday, 31-Jan-26 11:59:59 GMT' },
      412,
    ],
    ['If-Unmodified-Since with an invalid date', { ifUnmodifiedSince: 'long ago' }, undefined],
    ['If-None-Match with the tag of this representation', { ifNoneMatch: tag }, 304],
    ['If-None-Match with the weak tag', { ifNoneMatch: `W/${tag}` }, 304],
    ['If-None-Match with *', { ifNoneMatch: '*' }, 304],
    ['If-None-Match with a list', { ifNoneMatch: `"a,b", W/${tag}` }, 304],
    ['If-None-Match with another tag', { ifNoneMatch: '"x"' }, undefined],
    ['If-None-Match with the tag of another coding', { ifNoneMatch: br.entityTag }, undefined],
    ['an empty If-None-Match', { ifNoneMatch: '' }, undefined],
    ['If-Modified-Since with the same time', { ifModifiedSince: exactly }, 304],
    ['If-Modified-Since with a later time', { ifModifiedSince: after }, 304],
    ['If-Modified-Since with an earlier time', { ifModifiedSince: before }, undefined],
    ['If-Modified-Since in the RFC 850 form', { ifModifiedSince: 'Saturday, 31-Jan-26 12:00:00 GMT' }, 304],
    ['If-Modified-Since in the asctime form', { ifModifiedSince: 'Sat Jan 31 12:00:00 2026' }, 304],
    ['If-Modified-Since with an invalid date', { ifModifiedSince: '2026-01-31' }, undefined],
    ['If-Match before If-Unmodified-Since', { ifMatch: tag, ifUnmodifiedSince: before }, undefined],
    ['If-Match before If-None-Match', { ifMatch: '"x"', ifNoneMatch: tag }, 412],
    ['If-Unmodified-Since before If-None-Match', { ifUnmodifiedSince: before, ifNoneMatch: tag }, 412],
    ['If-Match that matches, then If-None-Match', { ifMatch: tag, ifNoneMatch: tag }, 304],
    ['If-None-Match instead of If-Modified-Since', { ifNoneMatch: '"x"', ifModifiedSince: after }, undefined],
    [
      'a malformed If-None-Match with If-Modified-Since',
      { ifNoneMatch: 'x', ifModifiedSince: after },
      undefined,
    ],
    ['nothing', {}, undefined],
  ])('evaluates %s: %j → %s', (_what, given, status) => {
    expect(evaluatePreconditions(createRequestFields(given), resource, identity)).toBe(status)
  })

  // Excluded because serve-dist differs from fresh: tags that contain commas, at which fresh splits its
  // list; dates that `Date.parse` accepts but §5.6.7 does not define; `Cache-Control: no-cache` of the
  // request, which §13 does not define as a precondition.
  test('answers 304 if the library fresh considers the response fresh', () => {
    const field = fc.constantFrom(undefined, '*', '"x"', tag, `W/${tag}`, `"x", ${tag}`, `"x",W/${tag},W/"y"`)
    const seconds = fc.option(fc.integer({ min: -2, max: 2 }), { nil: undefined })
    fc.assert(
      fc.property(field, seconds, (ifNoneMatch, offset) => {
        const ifModifiedSince =
          offset === undefined ? undefined : formatHttpDate(Date.parse(lastModified) + offset * 1000)
        const isFresh = fresh(
          { 'if-none-match': ifNoneMatch, 'if-modified-since': ifModifiedSince },
          { etag: tag, 'last-modified': exactly },
        )
        const given = { ifNoneMatch, ifModifiedSince }
        const status = evaluatePreconditions(createRequestFields(given), resource, identity)
        expect([given, status === 304]).toEqual([given, isFresh])
      }),
    )
  })

  test('follows the order of RFC 9110 §13.2.2 for any combination of fields', () => {
    const tags = fc.constantFrom(undefined, tag, `W/${tag}`, '"x"', '*')
    const dates = fc.constantFrom(undefined, before, exactly, after, 'never')
    fc.assert(
      fc.property(tags, dates, tags, dates, (ifMatch, ifUnmodifiedSince, ifNoneMatch, ifModifiedSince) => {
        const given = { ifMatch, ifUnmodifiedSince, ifNoneMatch, ifModifiedSince }
        const expected = (): 304 | 412 | undefined => {
          if (ifMatch !== undefined && ifMatch !== tag && ifMatch !== '*') return 412
          if (ifMatch === undefined && ifUnmodifiedSince === before) return 412
          if (ifNoneMatch !== undefined) return ifNoneMatch === '"x"' ? undefined : 304
          return ifModifiedSince === exactly || ifModifiedSince === after ? 304 : undefined
        }
        expect([given, evaluatePreconditions(createRequestFields(given), resource, identity)]).toEqual([
          given,
          expected(),
        ])
      }),
      { numRuns: 1000 },
    )
  })
})

describe('ifRangeHolds', () => {
  test.each([
    ['no field', undefined, true],
    ['the strong tag', tag, true],
    ['exactly the date', exactly, true],
    ['the weak tag', `W/${tag}`, false],
    ['another tag', '"x"', false],
    ['the tag of another coding', br.entityTag, false],
    ['a list with the tag', `${tag}, "x"`, false],
    ['any', '*', false],
    ['a later date', after, false],
    ['an earlier date', before, false],
    ['the date in another form', 'Saturday, 31-Jan-26 12:00:00 GMT', false],
    ['neither tag nor date', 'x', false],
    ['an empty field', '', false],
  ])('evaluates %s: %j → %s', (_what, field, holds) => {
    expect(ifRangeHolds(field, resource, identity)).toBe(holds)
  })

  test('rejects the date if a coding would be sent: the date does not identify the bytes', () => {
    expect(ifRangeHolds(exactly, resource, br)).toBe(false)
    expect(ifRangeHolds(exactly, resource, undefined)).toBe(false)
    expect(ifRangeHolds(tag, resource, br)).toBe(true)
  })
})

describe('a build whose times are fixed', () => {
  const site = fakeSite({ 'a.js': { body: 'identity', lastModified } }, { timesAreFixed: true })
  const undated = resourceAt(site, '/a.js')

  test.each([{ ifModifiedSince: exactly }, { ifModifiedSince: after }, { ifUnmodifiedSince: before }])(
    'ignores %j',
    (fields) => {
      expect(evaluatePreconditions(createRequestFields(fields), undated, undated.identity)).toBeUndefined()
    },
  )

  test('rejects every date in If-Range and sends no Last-Modified', () => {
    expect(ifRangeHolds(exactly, undated, undated.identity)).toBe(false)
    expect(okAnswer(undated.identity, undated).fields).not.toContain('Last-Modified')
    expect(notModifiedAnswer(undated.identity, undated).fields).not.toContain('Last-Modified')
  })
})
