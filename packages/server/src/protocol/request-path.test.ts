import { pathProblem } from '@serve-dist/manifest'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodePath, parseRequestPath } from './request-path.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'

const servablePath = fc
  .array(fc.string({ unit: 'binary', minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 4 })
  .map((segments) => segments.join('/'))
  .filter((path) => pathProblem(path) === undefined)

function escapeAll(text: string): string {
  return [...Buffer.from(text)].map((octet) => `%${octet.toString(16).padStart(2, '0')}`).join('')
}

describe('parseRequestPath', () => {
  test.each([
    ['the root', '/', '/', ''],
    ['a path', '/assets/a-b_c.~1.js', '/assets/a-b_c.~1.js', ''],
    ['a slash at the end', '/docs/', '/docs/', ''],
    ['a query', '/a?b=c&d', '/a', '?b=c&d'],
    ['an empty query', '/a?', '/a', '?'],
    ['a query with question marks, slashes and escapes', '/a?b?c=//../%zz%00', '/a', '?b?c=//../%zz%00'],
    ['unnecessary escapes', '/%61%2E%6a%73', '/a.js', ''],
    ['lower-case escapes', '/%c3%a9', '/%C3%A9', ''],
    ['raw octets of UTF-8, which Node passes as Latin-1', '/\u00c3\u00a9', '/%C3%A9', ''],
    ['a space', '/a%20b', '/a%20b', ''],
    ['a literal plus', '/a+b', '/a+b', ''],
    ['an escaped plus', '/a%2Bb', '/a+b', ''],
    ['an escaped percent sign', '/100%25', '/100%25', ''],
    ['a nested escape, decoded once', '/%252e%252e/%2561', '/%252e%252e/%2561', ''],
    ['brackets and quotes', '/%5Bid%5D%22', '/%5Bid%5D%22', ''],
    ['raw brackets', '/[id]', '/%5Bid%5D', ''],
    ['composed letters (NFC)', '/%C3%A9', '/%C3%A9', ''],
    ['decomposed letters (NFD)', '/e%CC%81', '/e%CC%81', ''],
    ['an encoded slash, preserved', '/a%2fb', '/a%2Fb', ''],
    ['an encoded backslash, preserved', '/a%5cb', '/a%5Cb', ''],
    ['encoded dots next to an encoded slash', '/..%2f..', '/..%2F..', ''],
    ['dots that form no dot segment', '/.../a..b/..c/d..', '/.../a..b/..c/d..', ''],
    ['an absolute form', 'http://example.org/a?b', '/a', '?b'],
    ['an absolute form without a path', 'http://example.org', '/', ''],
    ['an absolute form with a user', 'http://a:b@example.org/@c', '/@c', ''],
    ['an absolute form with a query only', 'HTTPS://example.org:8443?b', '/', '?b'],
  ])('reads %s', (_what, target, path, query) => {
    expect(parseRequestPath(target)).toEqual({ path, query })
  })

  test.each([
    ['an incomplete escape', '/%'],
    ['a short escape', '/a%2'],
    ['an escape without digits', '/%zz'],
    ['an encoded NUL', '/a%00.js'],
    ['an encoded line feed', '/a%0A'],
    ['an encoded DEL', '/a%7F'],
    ['an encoded C1 control', '/a%C2%85'],
    ['a raw control character', '/a\u0001'],
    ['octets that are not UTF-8', '/%FF'],
    ['an overlong slash', '/%C0%AF'],
    ['an encoded surrogate', '/%ED%A0%80'],
    ['a truncated sequence before a preserved escape', '/%C3%2F'],
    ['an unpaired surrogate from another host', '/\ud800'],
    ['a fragment', '/a#b?c'],
    ['a fragment after a query', '/a?b#c'],
    ['a fragment of an absolute form', 'http://example.org#/a'],
    ['another scheme', 'ftp://example.org/a'],
    ['two users', 'http://a@b@example.org/a'],
    ['the authority form', 'example.org:80'],
    ['a missing leading slash', 'a'],
    ['an asterisk with more text', '*/a'],
  ])('calls %s malformed', (_what, target) => {
    expect(parseRequestPath(target)).toBe('malformed')
  })

  test.each([
    ['a dot segment', '/a/./b'],
    ['a parent', '/a/../b'],
    ['a parent at the end', '/a/..'],
    ['an escaped parent', '/a/%2e%2E/b'],
    ['a half-escaped parent', '/.%2e/b'],
    ['an empty segment', '/a//b'],
    ['two leading slashes', '//a'],
    ['two trailing slashes', '/a//'],
    ['a backslash', '/a\\b'],
    ['a leading backslash', '/\\a'],
    ['the asterisk form', '*'],
    ['nothing', ''],
    ['a query only', '?a'],
    ['an absolute form with two slashes', 'http://example.org//a'],
  ])('calls %s unclean', (_what, target) => {
    expect(parseRequestPath(target)).toBe('unclean')
  })

  test('finds every servable file by its name, with any escapes', () => {
    fc.assert(
      fc.property(servablePath, (path) => {
        const key = { path: encodePath(`/${path}`), query: '' }
        expect(parseRequestPath(encodePath(`/${path}`))).toEqual(key)
        expect(parseRequestPath(`/${path.split('/').map(escapeAll).join('/')}`)).toEqual(key)
        expect(parseRequestPath(`/${path.split('/').map(encodeURIComponent).join('/')}`)).toEqual(key)
      }),
    )
  })

  test('returns a clean canonical path, or a reason, for any target', () => {
    const likely = fc
      .array(
        fc.constantFrom(
          '/',
          '.',
          '%2e',
          '%2F',
          '%5c',
          '\\',
          '%',
          '%00',
          'a',
          '?',
          '#',
          'http://',
          'é',
          '%C3',
        ),
      )
      .map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'binary' }), likely, fc.webPath()), (target) => {
        const parsed = parseRequestPath(target)
        if (typeof parsed === 'string') return
        expect(parsed.path).toMatch(/^\/[\w.~!$&'()*+,;=:@%/-]*$/)
        expect(parsed.path).not.toMatch(/\/\.{0,2}\/|\/\.{1,2}$/)
        expect(parseRequestPath(parsed.path)).toEqual({ path: parsed.path, query: '' })
        expect(parsed.query === '' || parsed.query.startsWith('?')).toBe(true)
      }),
      { numRuns: 1000 },
    )
  })

  test('parses 100 KB in linear time', () => {
    const pieces = [
      '/',
      '.',
      '/..',
      '%2F',
      '%5c',
      '%',
      '%41',
      '%C3%A9',
      '\u00e9',
      'a',
      '?',
      '#',
      '\\',
      'a+',
      '://',
    ]
    for (const target of hostileTexts(pieces, ['', '/', '/?', 'http://', 'a'])) {
      expect(millisecondsOf(() => parseRequestPath(target))).toBeLessThan(linearTimeLimit)
    }
  })
})

describe('encodePath', () => {
  test('keeps the characters that RFC 3986 §3.3 permits in a path', () => {
    const allowed = "/AZaz09-._~!$&'()*+,;=:@"
    expect(encodePath(allowed)).toBe(allowed)
  })

  test('is undone by decoding once', () => {
    fc.assert(
      fc.property(servablePath, (path) => {
        expect(decodeURIComponent(encodePath(path))).toBe(path)
      }),
    )
  })
})
