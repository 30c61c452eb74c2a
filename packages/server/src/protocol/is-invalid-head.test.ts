import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isInvalidHead } from './request-head.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'

describe('isInvalidHead', () => {
  test.each([
    ['a name', ['Host', 'example.org']],
    ['a name and a port', ['host', 'example.org:8080']],
    ['an address', ['Host', '[::1]:8080']],
    ['an IPv4 address', ['Host', '127.0.0.1']],
    ['an address of a future version', ['Host', '[v1.a:b]']],
    ['a name with escapes', ['Host', '%C3%BC.example']],
    ['an empty port', ['Host', 'a:']],
    ['the highest port', ['Host', 'a:65535']],
    ['a port with leading zeros', ['Host', 'a:000080']],
    ['chunks', ['Host', 'a', 'transfer-encoding', 'Chunked']],
  ])('accepts %s', (_what, fields) => {
    expect(isInvalidHead(fields)).toBe(false)
  })

  test.each([
    ['no Host', ['X-Host', 'a', 'Cookie', 'a=b']],
    ['an empty Host', ['Host', '']],
    ['a Host with only a port', ['Host', ':80']],
    ['two Hosts', ['Host', 'a', 'Accept', '*/*', 'HOST', 'a']],
    ['a Host with a path', ['Host', 'a/b']],
    ['a Host with a user', ['Host', 'a@b']],
    ['a Host with a space', ['Host', 'a b']],
    ['a port that is not a number', ['Host', 'a:b']],
    ['two ports', ['Host', 'a:80:80']],
    ['a port above the maximum', ['Host', 'a:65536']],
    ['a port with many digits', ['Host', 'a:99999999']],
    ['an unclosed address', ['Host', '[::1']],
    ['an address without brackets', ['Host', '::1']],
    ['an address followed by text', ['Host', '[::1]a']],
    ['empty brackets', ['Host', '[]']],
    ['an invalid escape', ['Host', '%zz']],
    ['another transfer coding', ['Host', 'a', 'Transfer-Encoding', 'gzip']],
    ['an unsupported coding before chunked', ['Host', 'a', 'Transfer-Encoding', 'gzip, chunked']],
    ['identity', ['Host', 'a', 'Transfer-Encoding', 'identity']],
  ])('rejects %s', (_what, fields) => {
    expect(isInvalidHead(fields)).toBe(true)
  })

  test('rejects chunks in HTTP/1.0 (RFC 9112 §6.1)', () => {
    expect(isInvalidHead(['Transfer-Encoding', 'chunked'], 0)).toBe(true)
    expect(isInvalidHead(['Host', 'a'], 0)).toBe(false)
    expect(isInvalidHead(['Host', ''], 0)).toBe(true)
  })

  test('accepts HTTP/1.0 without a Host', () => {
    expect(isInvalidHead(['X-Host', 'a', 'Cookie', 'a=b'], 0)).toBe(false)
  })

  test('parses hostile fields in linear time', () => {
    for (const value of hostileTexts(
      ['a', '.', ':', '0', '[', '%41', '%', ' ', ',', 'chunked, '],
      ['', '[', '[v1.', 'a:', 'a, '],
    )) {
      for (const name of ['Host', 'Transfer-Encoding'])
        expect(millisecondsOf(() => isInvalidHead(['Host', 'a', name, value]))).toBeLessThan(linearTimeLimit)
      expect(millisecondsOf(() => isInvalidHead(['Host', value]))).toBeLessThan(linearTimeLimit)
    }
  })

  test('returns a result for any fields', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('Host', 'Transfer-Encoding'))), (fields) => {
        expect(typeof isInvalidHead(fields)).toBe('boolean')
      }),
    )
  })
})
