import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { forwardedAddresses, toPlainAddress } from './forwarded-addresses.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'

describe('forwardedAddresses', () => {
  test.each([
    ['X-Forwarded-For', '203.0.113.7', ['203.0.113.7']],
    ['X-Forwarded-For', '203.0.113.7, 10.0.0.1', ['203.0.113.7', '10.0.0.1']],
    ['X-Forwarded-For', '203.0.113.7:4711, [2001:db8::1]:80', ['203.0.113.7', '2001:db8::1']],
    ['X-Forwarded-For', '2001:db8::1,::ffff:10.0.0.1', ['2001:db8::1', '10.0.0.1']],
    ['X-Forwarded-For', 'unknown, <script>, 10.0.0.1', [undefined, undefined, '10.0.0.1']],
    ['X-Forwarded-For', '', [undefined]],
    ['X-Forwarded-For', 'fe80::1%eth0', [undefined]],
    ['Forwarded', 'for=192.0.2.60;proto=http;by=203.0.113.43', ['192.0.2.60']],
    ['Forwarded', 'For="[2001:db8:cafe::17]:4711"', ['2001:db8:cafe::17']],
    ['Forwarded', 'for=192.0.2.43, for="[2001:db8:cafe::17]"', ['192.0.2.43', '2001:db8:cafe::17']],
    ['Forwarded', 'proto=https;for=192.0.2.43:47011', ['192.0.2.43']],
    ['Forwarded', 'for=_hidden, for=unknown, for=192.0.2.1', [undefined, undefined, '192.0.2.1']],
    ['Forwarded', 'by=192.0.2.1, for=192.0.2.2', [undefined, '192.0.2.2']],
    ['Forwarded', 'host="a, for=192.0.2.9";for=192.0.2.2', ['192.0.2.2']],
    ['Forwarded', 'for="192.0.2.\\2"', ['192.0.2.2']],
    ['Forwarded', 'for=6.6.6.6;a="b, for="[2001:db8::1]"', ['6.6.6.6', '2001:db8::1']],
    ['Via', '1.1 a', []],
  ])('parses %s: %s', (name, value, expected) => {
    expect(forwardedAddresses(['Host', 'a', name, value])).toEqual(expected)
  })

  test('joins several lines to one list and prefers X-Forwarded-For to Forwarded', () => {
    const lines = [
      ['x-forwarded-for', '192.0.2.1'],
      ['Forwarded', 'for=192.0.2.9'],
      ['X-Forwarded-For', '192.0.2.2'],
    ]
    expect(forwardedAddresses(lines.flat())).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  test.each(['for="[2001:db8::1]"', 'host="a, for=6.6.6.6";for="[2001:db8::1]:80";by="192.0.2.1:80"'])(
    'reads the address of the last proxy despite forged values of a client: %s',
    (element) => {
      const pieces = fc.constantFrom('for=6.6.6.6', ';', ',', '"', '\\', ' ', 'a=', 'b')
      const sent = fc.array(pieces, { maxLength: 12 }).map((chosen) => chosen.join(''))
      fc.assert(
        fc.property(sent, (text) => {
          expect(forwardedAddresses(['Forwarded', text, 'Forwarded', element]).at(-1)).toBe('2001:db8::1')
          expect(forwardedAddresses(['Forwarded', `${text},${element}`]).at(-1)).toBe('2001:db8::1')
        }),
      )
    },
  )

  test('returns only addresses for any text', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('Forwarded', 'X-Forwarded-For'), (text, name) => {
        for (const address of forwardedAddresses([name, text])) {
          expect(address ?? '0.0.0.0').toMatch(/^[\d.:a-f]+$/i)
        }
      }),
    )
  })

  test.each(hostileTexts(['for=', '"', '"a', '\\', 'a=b,', ', ', 'for="\\"', 'a=', ';']))(
    'takes linear time',
    (text) => {
      expect(millisecondsOf(() => forwardedAddresses(['Forwarded', text]))).toBeLessThan(linearTimeLimit)
    },
  )
})

describe('toPlainAddress', () => {
  test.each([
    ['::ffff:127.0.0.1', '127.0.0.1'],
    ['::1', '::1'],
    ['127.0.0.1', '127.0.0.1'],
    ['', ''],
  ])('maps %s to %s', (address, expected) => {
    expect(toPlainAddress(address)).toBe(expected)
  })
})
