import { expect, test } from 'vitest'
import { joinFirstNames } from './join-first-names.ts'

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b', 'c'], 'a, b, c'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 more'],
])('joinFirstNames joins the first three names of %j', (names, expected) => {
  expect(joinFirstNames(names)).toBe(expected)
})
