import { describe, expect, test } from 'vitest'
import { parseHsts, resolveTlsOptions, type TlsOptions } from './tls-options.ts'

const pair = { cert: 'cert.pem', key: 'key.pem' }

describe('resolveTlsOptions', () => {
  test('creates the value of Strict-Transport-Security', () => {
    expect(resolveTlsOptions({ ...pair, redirectPort: 0, hsts: '1d' })).toEqual({
      ...pair,
      redirectPort: 0,
      hsts: 'max-age=86400',
    })
  })

  test.each<readonly [Partial<TlsOptions>, RegExp]>([
    [{ cert: 'cert.pem' }, /^key: .*go together/],
    [{ key: 'key.pem' }, /^cert: .*go together/],
    [{ ...pair, redirectPort: 65_536 }, /^redirectPort: expected a whole number from 0 to 65535/],
    [{ ...pair, hsts: 'forever' }, /expected a time such as 1y/],
  ])('refuses %j', (options, message) => {
    expect(() => Reflect.apply(resolveTlsOptions, undefined, [options])).toThrow(message)
  })

  test('rejects an unknown name', () => {
    expect(() => Reflect.apply(resolveTlsOptions, undefined, [{ ...pair, ca: 'ca.pem' }])).toThrow(
      /ca: unknown option/,
    )
  })
})

describe('parseHsts', () => {
  test.each([
    ['1y', 'max-age=31536000'],
    ['30d', 'max-age=2592000'],
    ['2W', 'max-age=1209600'],
    [' 300s ', 'max-age=300'],
    ['0s', 'max-age=0'],
    ['max-age=63072000; includeSubDomains; preload', 'max-age=63072000; includeSubDomains; preload'],
    ['max-age=0', 'max-age=0'],
  ])('converts %j to %j', (text, value) => {
    expect(parseHsts(text)).toBe(value)
  })

  test.each([
    '',
    '1',
    'y',
    '-1y',
    '1.5y',
    'true',
    'includeSubDomains',
    'max-age=1y',
    'max-age=1\r\nX: y',
    'max-age=1; x',
  ])('rejects %j and names the expected values', (text) => {
    expect(() => parseHsts(text)).toThrow(/expected a time such as 1y/)
  })
})
