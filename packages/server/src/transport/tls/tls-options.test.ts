import { describe, expect, test } from 'vitest'
import { tlsOptionsOf } from '../../command/add-tls-options.ts'
import { resolveTlsOptions, type TlsOptions } from './tls-options.ts'

const pair = { cert: 'cert.pem', key: 'key.pem' }

describe('resolveTlsOptions', () => {
  test('makes the value of Strict-Transport-Security', () => {
    expect(resolveTlsOptions({ ...pair, redirectPort: 0, hsts: '1d' })).toEqual({
      ...pair,
      redirectPort: 0,
      hsts: 'max-age=86400',
    })
  })

  test.each<readonly [Partial<TlsOptions>, RegExp]>([
    [{ cert: 'cert.pem' }, /^tls\.key: .*go together/],
    [{ key: 'key.pem' }, /^tls\.cert: .*go together/],
    [{ ...pair, redirectPort: 65_536 }, /^tls\.redirectPort: expected a whole number from 0 to 65535/],
    [{ ...pair, hsts: 'forever' }, /expected a time such as 1y/],
  ])('refuses %j', (options, message) => {
    expect(() => Reflect.apply(resolveTlsOptions, undefined, [options])).toThrow(message)
  })

  test('refuses a name that there is not', () => {
    expect(() => Reflect.apply(resolveTlsOptions, undefined, [{ ...pair, ca: 'ca.pem' }])).toThrow(
      /ca: there is no such option/,
    )
  })
})

describe('tlsOptionsOf', () => {
  test('is nothing where nothing is asked for', () => {
    expect(tlsOptionsOf({})).toBeUndefined()
  })

  test('takes all flags', () => {
    const flags = { tlsCert: 'cert.pem', tlsKey: 'key.pem', redirectHttp: 80, hsts: 'max-age=1' }
    expect(tlsOptionsOf(flags)).toEqual({ ...pair, redirectPort: 80, hsts: 'max-age=1' })
  })

  test.each([
    [{ tlsCert: 'cert.pem' }, '--tls-cert is there without --tls-key'],
    [{ tlsKey: 'key.pem' }, '--tls-key is there without --tls-cert'],
    [{ redirectHttp: 80 }, '--redirect-http is about HTTPS; add --tls-cert and --tls-key'],
    [{ hsts: 'max-age=1' }, '--hsts is about HTTPS'],
  ])('refuses %j', (flags, message) => {
    expect(() => tlsOptionsOf(flags)).toThrow(message)
  })
})
