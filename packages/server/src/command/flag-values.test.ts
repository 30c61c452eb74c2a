import fc from 'fast-check'
import { describeMismatch } from '@serve-dist/foundation/values/describe-mismatch'
import { s } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import {
  parseAge,
  parseDuration,
  parseOpsAddress,
  parseSocket,
  parseWorkers,
  createFlagParser,
} from './flag-values.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'
import { maximumTimeout } from '../protocol/connection-limits.ts'

const parseByteSize = createFlagParser(s.byteSize())

describe('createFlagParser', () => {
  test.each([
    ['0', 0],
    ['65536', 65_536],
    ['64k', 65_536],
    ['64K', 65_536],
    ['64kb', 64_000],
    ['64 KiB', 65_536],
    ['1.5m', 1_572_864],
    ['2GB', 2_000_000_000],
    [' 10 b ', 10],
    ['0.3', 0],
  ])('parses %j as %d bytes', (text, bytes) => {
    expect(parseByteSize(text)).toBe(bytes)
  })

  test.each([
    '',
    'k',
    '-1',
    '+1',
    '1e3',
    '1.',
    '.5',
    '64x',
    '64 k b',
    '1 000',
    '1,5m',
    '0x10',
    'Infinity',
    '64kk',
    '9'.repeat(400),
  ])('rejects %j and says what is expected', (text) => {
    expect(() => parseByteSize(text)).toThrow(
      new TypeError(describeMismatch('a size such as 65536, 64k or 1.5 MB', text)),
    )
  })

  test('returns whole bytes or throws a TypeError for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d.]{1,9} ?[kmgKib]{0,3}$/)), (text) => {
        const outcome = attempt(parseByteSize, text)
        expect(outcome instanceof TypeError || Number.isSafeInteger(outcome)).toBe(true)
      }),
    )
  })

  test('parses any 100 KB in linear time', () => {
    for (const text of hostileTexts(['1.', '1 ', 'k', '1k'], ['', '1', '1.1'])) {
      const milliseconds = millisecondsOf(() => {
        expect(() => parseByteSize(text)).toThrow(TypeError)
      })
      expect(milliseconds).toBeLessThan(linearTimeLimit)
    }
  })
})

describe('parseAge', () => {
  test.each([
    ['0', 0],
    ['90s', 90_000],
    ['12h', 43_200_000],
    ['7d', 604_800_000],
    ['1.5 D', 129_600_000],
    ['52w', 31_449_600_000],
  ])('parses %j as %d milliseconds', (text, milliseconds) => {
    expect(parseAge(text)).toBe(milliseconds)
  })

  test.each(['', '7', 'd', '-1d', '1y', '10ms', '1e3d', `${'9'.repeat(30)}d`])(
    'rejects %j and says what is expected',
    (text) => {
      expect(() => parseAge(text)).toThrow(
        new TypeError(`expected a time such as 12h, 7d or 2w, found "${text}"`),
      )
    },
  )
})

describe('parseDuration', () => {
  test.each([
    ['0', 0],
    ['0s', 0],
    ['500ms', 500],
    ['10s', 10_000],
    ['10S', 10_000],
    ['10 s', 10_000],
    ['1.5s', 1500],
    ['1m', 60_000],
    [' 2h ', 7_200_000],
    ['2147483647ms', 2_147_483_647],
  ])('parses %j as %d milliseconds', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds)
  })

  test.each(['', 's', '10', '-1s', '+1s', '1e3s', '1.s', '.5s', '10x', '10 s s', '1,5s', 'Infinity', '25 d'])(
    'rejects %j and says what is expected',
    (text) => {
      expect(() => parseDuration(text)).toThrow(
        new TypeError(`expected a duration such as 500ms, 10s or 1m, 24 days at most, found "${text}"`),
      )
    },
  )

  test('rejects durations that overflow a timer', () => {
    expect(() => parseDuration('2147483648ms')).toThrow(TypeError)
    expect(() => parseDuration('25h')).not.toThrow()
    expect(() => parseDuration('600h')).toThrow(TypeError)
  })

  test('returns milliseconds that a timer accepts, or throws a TypeError, for any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d.]{1,9} ?[msh]{0,2}$/)), (text) => {
        const outcome = attempt(parseDuration, text)
        const isDuration =
          Number.isInteger(outcome) && Number(outcome) >= 0 && Number(outcome) <= maximumTimeout
        expect(outcome instanceof TypeError || isDuration).toBe(true)
      }),
    )
  })

  test('parses any 100 KB in linear time', () => {
    for (const text of hostileTexts(['1.', '1 ', 'm', '1s'], ['', '1', '1.1'])) {
      const milliseconds = millisecondsOf(() => {
        expect(() => parseDuration(text)).toThrow(TypeError)
      })
      expect(milliseconds).toBeLessThan(linearTimeLimit)
    }
  })
})

describe('parseSocket', () => {
  test.each([
    ['/run/a.sock', { path: '/run/a.sock' }],
    ['/run/a.sock:660', { path: '/run/a.sock', mode: 0o660 }],
    ['a:0600', { path: 'a', mode: 0o600 }],
    ['a:777', { path: 'a', mode: 0o777 }],
    ['a:660:000', { path: 'a:660', mode: 0 }],
    ['a:b', { path: 'a:b' }],
  ])('parses %j as %o', (text, place) => {
    expect(parseSocket(text)).toEqual(place)
  })

  test.each(['a:66', 'a:6600', 'a:668', 'a:1660'])('rejects %j', (text) => {
    expect(() => parseSocket(text)).toThrow(
      new TypeError(`expected a path and permissions in octal digits such as a:660, found "${text}"`),
    )
  })
})

describe('parseWorkers', () => {
  test.each([
    ['1', 1],
    ['16', 16],
    ['1024', 1024],
  ])('parses %j as %d', (text, count) => {
    expect(parseWorkers(text)).toBe(count)
  })

  test('returns auto unchanged', () => {
    expect(parseWorkers('auto')).toBe('auto')
  })

  test.each(['', '0', '-1', '1.5', '1025', 'all', '1e3', ' 2'])('rejects %j', (text) => {
    expect(() => parseWorkers(text)).toThrow(
      new TypeError(`expected auto or a whole number from 1 to 1024, found "${text}"`),
    )
  })
})

describe('parseOpsAddress', () => {
  test.each([
    ['127.0.0.1:9090', '127.0.0.1', 9090],
    ['localhost:0', 'localhost', 0],
    ['[::1]:9090', '::1', 9090],
    [':9090', '*', 9090],
    ['*:9090', '*', 9090],
    ['9090', '127.0.0.1', 9090],
  ])('parses %s', (text, host, port) => {
    expect(parseOpsAddress(text)).toEqual({ host, port })
  })

  test.each(['', 'localhost', '127.0.0.1:', '127.0.0.1:65536', '::1:9090', '[::1]', 'http://a:90', '[]:9'])(
    'rejects %j',
    (text) => {
      expect(() => parseOpsAddress(text)).toThrow('expected host:port')
    },
  )
})

function attempt(parse: (text: string) => number, text: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    return error
  }
}
