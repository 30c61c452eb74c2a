import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseDuration } from './parse-duration.ts'
import { longestTimeout } from '../protocol/connection-limits.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'

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
  ])('reads %j as %d milliseconds', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds)
  })

  test.each(['', 's', '10', '-1s', '+1s', '1e3s', '1.s', '.5s', '10x', '10 s s', '1,5s', 'Infinity', '25 d'])(
    'refuses %j and shows what is expected',
    (text) => {
      expect(() => parseDuration(text)).toThrow(
        new TypeError(`expected a duration such as 500ms, 10s or 1m, 24 days at most, found "${text}"`),
      )
    },
  )

  test('refuses what a timer would take for no time at all', () => {
    expect(() => parseDuration('2147483648ms')).toThrow(TypeError)
    expect(() => parseDuration('25h')).not.toThrow()
    expect(() => parseDuration('600h')).toThrow(TypeError)
  })

  test('answers milliseconds that a timer can wait for, or a TypeError, to any text', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d.]{1,9} ?[msh]{0,2}$/)), (text) => {
        const outcome = attempt(text)
        const isDuration =
          Number.isInteger(outcome) && Number(outcome) >= 0 && Number(outcome) <= longestTimeout
        expect(outcome instanceof TypeError || isDuration).toBe(true)
      }),
    )
  })

  test('reads 100 KB of anything in linear time', () => {
    for (const text of hostileTexts(['1.', '1 ', 'm', '1s'], ['', '1', '1.1'])) {
      const milliseconds = millisecondsOf(() => {
        expect(() => parseDuration(text)).toThrow(TypeError)
      })
      expect(milliseconds).toBeLessThan(linearTimeLimit)
    }
  })
})

function attempt(text: string): unknown {
  try {
    return parseDuration(text)
  } catch (error) {
    return error
  }
}
