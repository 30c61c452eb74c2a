import { expect, test } from 'vitest'
import { count } from './count.ts'

test.each([
  [0, '0 files', '0 files are'],
  [1, '1 file', '1 file is'],
  [2, '2 files', '2 files are'],
])('names %i files', (number, noun, withVerb) => {
  expect([count(number, 'file'), count(number, 'file is', 'files are')]).toEqual([noun, withVerb])
})
