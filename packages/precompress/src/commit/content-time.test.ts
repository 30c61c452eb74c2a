import { describe, expect, test } from 'vitest'
import { contentTime } from './build-manifest.ts'

describe('contentTime', () => {
  test('takes SOURCE_DATE_EPOCH', () => {
    expect(contentTime('1700000000')).toEqual({ now: '2023-11-14T22:13:20Z', isFixed: true })
  })

  test.each([undefined, ''])('takes the clock, in whole seconds, without it (%j)', (value) => {
    expect(contentTime(value, () => 1_700_000_000_999)).toEqual({
      now: '2023-11-14T22:13:20Z',
      isFixed: false,
    })
  })

  test.each(['-1', '1.5', 'now', '1e9', '999999999999'])('refuses %s', (value) => {
    expect(() => contentTime(value)).toThrow('SOURCE_DATE_EPOCH: expected a whole number of seconds')
  })
})
