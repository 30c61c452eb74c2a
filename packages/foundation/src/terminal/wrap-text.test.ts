import { expect, test } from 'vitest'
import { terminalWidth, wrapText } from './wrap-text.ts'

test.each([
  ['one two three', 7, '', 'one two\nthree'],
  ['  one two\n\nthree four', 7, '', '  one\n  two\n\nthree\nfour'],
  ['1. one two three', 9, '   ', '1. one\n   two\n   three'],
  ['a-very-long-word b', 5, '', 'a-very-long-word\nb'],
  ['a  1  2', 7, '', 'a  1  2'],
  ['\u001B[31mone\u001B[39m two', 7, '', '\u001B[31mone\u001B[39m two'],
  ['one two', undefined, '', 'one two'],
])('wraps %j to %s columns with the indent %j', (text, columns, more, wrapped) => {
  expect(wrapText(text, columns, more)).toBe(wrapped)
})

test('returns the width of terminals that know it', () => {
  expect(terminalWidth({ isTTY: true, columns: 80 })).toBe(80)
  expect(terminalWidth({ isTTY: true, columns: 0 })).toBeUndefined()
  expect(terminalWidth({ columns: 80 })).toBeUndefined()
})
