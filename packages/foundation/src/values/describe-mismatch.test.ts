import { expect, test } from 'vitest'
import { describeMismatch } from './describe-mismatch.ts'

test.each([
  ['a list of globs', '*.js', 'expected a list of globs, found a string. Write ["*.js"].'],
  ['a list of globs', 7, 'expected a list of globs, found 7'],
  ['true or false', 'yes', 'expected true or false, found "yes"'],
  ['a number', Number.NaN, 'expected a number, found NaN'],
  ['a number', undefined, 'expected a number, found nothing'],
  ['a text', () => {}, 'expected a text, found a function'],
])('describeMismatch for %s shows the value %j', (expected, value, message) => {
  expect(describeMismatch(expected, value)).toBe(message)
})
