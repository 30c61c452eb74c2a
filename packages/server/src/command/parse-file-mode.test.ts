import { describe, expect, test } from 'vitest'
import { parseFileMode } from './parse-file-mode.ts'

describe('parseFileMode', () => {
  test.each([
    ['660', 0o660],
    ['0600', 0o600],
    ['777', 0o777],
    ['000', 0],
  ])('reads %j as %d', (text, mode) => {
    expect(parseFileMode(text)).toBe(mode)
  })

  test.each(['', '66', '6600', '0o660', '668', 'rw-', ' 660'])('refuses %j', (text) => {
    expect(() => parseFileMode(text)).toThrow(
      new TypeError(`expected permissions in octal digits such as 660, found "${text}"`),
    )
  })
})
