import { expect, test } from 'vitest'
import { pluralize } from './pluralize.ts'

test.each([
  [0, '0 files', '0 files are'],
  [1, '1 file', '1 file is'],
  [2, '2 files', '2 files are'],
  [999, '999 files', '999 files are'],
  [1000, '1,000 files', '1,000 files are'],
  [1234567, '1,234,567 files', '1,234,567 files are'],
])('pluralize formats %i files', (number, noun, withVerb) => {
  expect([pluralize(number, 'file'), pluralize(number, 'file is', 'files are')]).toEqual([noun, withVerb])
})
