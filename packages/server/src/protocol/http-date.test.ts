import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatHttpDate, parseHttpDate } from './http-date.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'

const example = Date.UTC(1994, 10, 6, 8, 49, 37)
const year2026 = Date.UTC(2026, 0, 1)
const names = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const longNames = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
// `Date.parse` interprets years below 100 as years of the last century.
const anyTime = fc.integer({ min: Date.UTC(100, 0, 1) / 1000, max: Date.UTC(9999, 11, 31) / 1000 })

describe('parseHttpDate', () => {
  test.each([
    ['IMF-fixdate', 'Sun, 06 Nov 1994 08:49:37 GMT'],
    ['RFC 850', 'Sunday, 06-Nov-94 08:49:37 GMT'],
    ['asctime', 'Sun Nov  6 08:49:37 1994'],
  ])('reads %s', (_form, text) => {
    expect(parseHttpDate(text, year2026)).toBe(example)
  })

  test.each([
    ['a leap day', 'Thu, 29 Feb 2024 00:00:00 GMT', Date.UTC(2024, 1, 29)],
    ['a leap second', 'Sat, 31 Dec 2016 23:59:60 GMT', Date.UTC(2017, 0, 1)],
    ['a year below 100', 'Sat, 01 Jan 0050 00:00:00 GMT', new Date('0050-01-01T00:00:00Z').getTime()],
    ['two digits up to 50 years ahead', 'Wednesday, 01-Jan-76 00:00:00 GMT', Date.UTC(2076, 0, 1)],
    ['two digits beyond that as a past year', 'Saturday, 01-Jan-77 00:00:00 GMT', Date.UTC(1977, 0, 1)],
  ])('reads %s', (_what, text, time) => {
    expect(parseHttpDate(text, year2026)).toBe(time)
  })

  test.each([
    '',
    'yesterday',
    '0',
    '1994-11-06T08:49:37Z',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 UTC',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 06 Nov 1994 08:49:37',
    'Sun, 06 Nov 94 08:49:37 GMT',
    'Sun, 06 nov 1994 08:49:37 GMT',
    'Sun, 31 Nov 1994 08:49:37 GMT',
    'Sun, 29 Feb 2023 08:49:37 GMT',
    'Sun, 00 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 24:00:00 GMT',
    'Sun, 06 Nov 1994 08:60:37 GMT',
    'Sun, 06 Nov 1994 08:49:61 GMT',
    ' Sun, 06 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 08:49:37 GMT ',
    'Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-1994 08:49:37 GMT',
    'Sun Nov 6 08:49:37 1994',
  ])('rejects %j', (text) => {
    expect(parseHttpDate(text)).toBeUndefined()
  })

  test('agrees with Date.parse on every IMF-fixdate and asctime date', () => {
    fc.assert(
      fc.property(anyTime, (seconds) => {
        const fixdate = new Date(seconds * 1000).toUTCString()
        const [, day = '', month, year, time] = fixdate.split(' ')
        const asctime = `${fixdate.slice(0, 3)} ${month} ${day.replace(/^0/, ' ')} ${time} ${year}`
        expect(parseHttpDate(fixdate)).toBe(Date.parse(fixdate))
        expect(parseHttpDate(asctime)).toBe(Date.parse(`${asctime} GMT`))
      }),
    )
  })

  test('parses the RFC 850 form of every time of these decades', () => {
    fc.assert(
      fc.property(fc.integer({ min: Date.UTC(1977, 0, 1) / 1000, max: year2026 / 1000 }), (seconds) => {
        const date = new Date(seconds * 1000)
        const [name = '', day, month, year = '', time] = date.toUTCString().split(' ')
        const text = `${longNames[names.indexOf(name.slice(0, 3))]}, ${day}-${month}-${year.slice(2)} ${time} GMT`
        expect(parseHttpDate(text, year2026)).toBe(date.getTime())
      }),
    )
  })

  test('returns a whole second or undefined for any text', () => {
    const likely = fc
      .tuple(
        fc.constantFrom('Sun', 'Sunday'),
        fc.constantFrom(', ', ' '),
        fc.nat(99),
        fc.string(),
        fc.nat(99),
        fc.nat(99),
      )
      .map(
        ([name, mark, day, month, hour, second]) =>
          `${name}${mark}${day} ${month} 1994 ${hour}:00:${second} GMT`,
      )
    fc.assert(
      fc.property(fc.oneof(fc.string(), likely), (text) => {
        const time = parseHttpDate(text)
        expect(time === undefined || Number.isInteger(time / 1000)).toBe(true)
      }),
    )
  })

  test('parses 100 KB in linear time', () => {
    for (const text of hostileTexts(['0', ' ', 'Sun, ', 'Sunday, 06-Nov-94 08:49:37 GMT'], ['', 'Sun, '])) {
      expect(millisecondsOf(() => parseHttpDate(text))).toBeLessThan(linearTimeLimit)
    }
  })
})

describe('formatHttpDate', () => {
  test('formats IMF-fixdate', () => {
    expect(formatHttpDate(example)).toBe('Sun, 06 Nov 1994 08:49:37 GMT')
  })

  test('cuts off the fraction of a second', () => {
    expect(formatHttpDate(example + 999)).toBe('Sun, 06 Nov 1994 08:49:37 GMT')
  })

  test('is parsed to the same second', () => {
    fc.assert(
      fc.property(anyTime, (seconds) => {
        expect(parseHttpDate(formatHttpDate(seconds * 1000))).toBe(seconds * 1000)
      }),
    )
  })
})
