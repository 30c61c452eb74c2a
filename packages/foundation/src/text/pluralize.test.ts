import { expect, test } from 'vitest'
import { pluralize } from './pluralize.ts'

test.each([
  [0, '0 files', '0 files are'],
  [1, '1 file', '1 file is'],
  [2, '2 files', '2 files are'],
])('pluralize formats %i files', (number, noun, withVerb) => {
  expect([pluralize(number, 'file'), pluralize(number, 'file is', 'files are')]).toEqual([noun, withVerb])
})
