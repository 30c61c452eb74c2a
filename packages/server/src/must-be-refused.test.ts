import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { mustBeRefused } from './must-be-refused.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from './testing/hostile-texts.ts'

describe('mustBeRefused', () => {
  test.each([
    ['a name', ['Host', 'example.org']],
    ['a name and a port', ['host', 'example.org:8080']],
    ['an address', ['Host', '[::1]:8080']],
    ['an empty Host, which a client without a name sends', ['Host', '']],
    ['no Host, which HTTP/1.0 allows', ['X-Host', 'a', 'Cookie', 'a=b']],
    ['chunks', ['Host', 'a', 'transfer-encoding', 'Chunked']],
  ])('lets %s pass', (_what, fields) => {
    expect(mustBeRefused(fields)).toBe(false)
  })

  test.each([
    ['two Hosts', ['Host', 'a', 'Accept', '*/*', 'HOST', 'a']],
    ['a Host with a path', ['Host', 'a/b']],
    ['a Host with a user', ['Host', 'a@b']],
    ['a Host with a space', ['Host', 'a b']],
    ['another transfer coding', ['Host', 'a', 'Transfer-Encoding', 'gzip']],
    ['a coding before chunked, which we do not undo', ['Host', 'a', 'Transfer-Encoding', 'gzip, chunked']],
    ['identity', ['Host', 'a', 'Transfer-Encoding', 'identity']],
  ])('refuses %s', (_what, fields) => {
    expect(mustBeRefused(fields)).toBe(true)
  })

  test('reads hostile fields in linear time', () => {
    for (const value of hostileTexts(
      ['a', '.', ':', '[', '%41', '%', ' ', ',', 'chunked, '],
      ['', '[', 'a:', 'a, '],
    )) {
      for (const name of ['Host', 'Transfer-Encoding'])
        expect(millisecondsOf(() => mustBeRefused(['Host', 'a', name, value]))).toBeLessThan(linearTimeLimit)
      expect(millisecondsOf(() => mustBeRefused(['Host', value]))).toBeLessThan(linearTimeLimit)
    }
  })

  test('answers to any fields', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('Host', 'Transfer-Encoding'))), (fields) => {
        expect(typeof mustBeRefused(fields)).toBe('boolean')
      }),
    )
  })
})
