import { expect, test } from 'vitest'
import { spreadOver } from './tree.ts'

const letters = [...'abcdefghij']

test.each([
  [1, 'f'],
  [2, 'ch'],
  [3, 'bfi'],
  [10, 'abcdefghij'],
  [11, 'abcdefghij'],
])('spreadOver chooses %i, at even distances', (count, chosen) => {
  expect(spreadOver(letters, count).join('')).toBe(chosen)
})
