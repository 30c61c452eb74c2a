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
    ['an address of the future', ['Host', '[v1.a:b]']],
    ['a name in escapes', ['Host', '%C3%BC.example']],
    ['a port that is not told', ['Host', 'a:']],
    ['the highest port', ['Host', 'a:65535']],
    ['a port with zeros before it', ['Host', 'a:000080']],
    ['chunks', ['Host', 'a', 'transfer-encoding', 'Chunked']],
  ])('lets %s pass', (_what, fields) => {
    expect(isInvalidHead(fields)).toBe(false)
  })

  test.each([
    ['no Host', ['X-Host', 'a', 'Cookie', 'a=b']],
    ['an empty Host', ['Host', '']],
    ['a Host of a port alone', ['Host', ':80']],
    ['two Hosts', ['Host', 'a', 'Accept', '*/*', 'HOST', 'a']],
    ['a Host with a path', ['Host', 'a/b']],
    ['a Host with a user', ['Host', 'a@b']],
    ['a Host with a space', ['Host', 'a b']],
    ['a port that is no number', ['Host', 'a:b']],
    ['two ports', ['Host', 'a:80:80']],
    ['a port beyond the highest', ['Host', 'a:65536']],
    ['a port of many digits', ['Host', 'a:99999999']],
    ['an address that does not end', ['Host', '[::1']],
    ['an address without brackets', ['Host', '::1']],
    ['an address with text behind it', ['Host', '[::1]a']],
    ['empty brackets', ['Host', '[]']],
    ['a broken escape', ['Host', '%zz']],
    ['another transfer coding', ['Host', 'a', 'Transfer-Encoding', 'gzip']],
    ['a coding before chunked, which we do not undo', ['Host', 'a', 'Transfer-Encoding', 'gzip, chunked']],
    ['identity', ['Host', 'a', 'Transfer-Encoding', 'identity']],
  ])('refuses %s', (_what, fields) => {
    expect(isInvalidHead(fields)).toBe(true)
  })

  test('refuses chunks in HTTP/1.0 (RFC 9112 §6.1)', () => {
    expect(isInvalidHead(['Transfer-Encoding', 'chunked'], 0)).toBe(true)
    expect(isInvalidHead(['Host', 'a'], 0)).toBe(false)
    expect(isInvalidHead(['Host', ''], 0)).toBe(true)
  })

  test('lets HTTP/1.0 pass without a Host', () => {
    expect(isInvalidHead(['X-Host', 'a', 'Cookie', 'a=b'], 0)).toBe(false)
  })

  test('reads hostile fields in linear time', () => {
    for (const value of hostileTexts(
      ['a', '.', ':', '0', '[', '%41', '%', ' ', ',', 'chunked, '],
      ['', '[', '[v1.', 'a:', 'a, '],
    )) {
      for (const name of ['Host', 'Transfer-Encoding'])
        expect(millisecondsOf(() => isInvalidHead(['Host', 'a', name, value]))).toBeLessThan(linearTimeLimit)
      expect(millisecondsOf(() => isInvalidHead(['Host', value]))).toBeLessThan(linearTimeLimit)
    }
  })

  test('answers to any fields', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('Host', 'Transfer-Encoding'))), (fields) => {
        expect(typeof isInvalidHead(fields)).toBe('boolean')
      }),
    )
  })
})
