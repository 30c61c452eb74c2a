import { describe, expect, test } from 'vitest'
import { parseHsts } from './parse-hsts.ts'

describe('parseHsts', () => {
  test.each([
    ['1y', 'max-age=31536000'],
    ['30d', 'max-age=2592000'],
    ['2W', 'max-age=1209600'],
    [' 300s ', 'max-age=300'],
    ['0s', 'max-age=0'],
    ['max-age=63072000; includeSubDomains; preload', 'max-age=63072000; includeSubDomains; preload'],
    ['max-age=0', 'max-age=0'],
  ])('%j is %j', (text, value) => {
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
  ])('%j is refused, with what is expected', (text) => {
    expect(() => parseHsts(text)).toThrow(/expected a time such as 1y/)
  })
})
