import { usableCores } from '@serve-dist/manifest/usable-cores'
import { describe, expect, test } from 'vitest'
import { parseWorkers } from './parse-workers.ts'

describe('parseWorkers', () => {
  test.each([
    ['1', 1],
    ['16', 16],
    ['1024', 1024],
  ])('reads %j as %d', (text, count) => {
    expect(parseWorkers(text)).toBe(count)
  })

  test('takes auto for the cores that there are to use', () => {
    expect(parseWorkers('auto')).toBe(usableCores())
  })

  test.each(['', '0', '-1', '1.5', '1025', 'all', '1e3', ' 2'])('refuses %j', (text) => {
    expect(() => parseWorkers(text)).toThrow(
      new TypeError(`expected auto or a whole number from 1 to 1024, found "${text}"`),
    )
  })
})
