import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { escapeControls, escapeQuoted } from './log-entry.ts'

describe('escapeControls', () => {
  test.each([
    ['plain text, "quoted"', 'plain text, "quoted"'],
    ['a\r\nb', 'a\\x0d\\x0ab'],
    ['\u001B[31m', '\\x1b[31m'],
    ['\u009B31m\u007F', '\\x9b31m\\x7f'],
    ['caf\u00E9', 'caf\u00E9'],
  ])('escapes %j to %j', (text, expected) => {
    expect(escapeControls(text)).toBe(expected)
  })

  test('truncates a long text', () => {
    expect(escapeControls('a'.repeat(16_384))).toBe(`${'a'.repeat(1024)}...`)
  })
})

describe('escapeQuoted', () => {
  test.each([
    ['say "hi" \\', 'say \\"hi\\" \\\\'],
    ['a\tb', 'a\\x09b'],
    ['caf\u00E9', 'caf\\xe9'],
  ])('escapes %j to %j', (text, expected) => {
    expect(escapeQuoted(text)).toBe(expected)
  })

  test('produces no character that ends the quotes or the line', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        expect(escapeQuoted(text)).toMatch(/^(?:[ !#-[\]-~]|\\["\\]|\\x[\da-f]{2,})*$/)
      }),
    )
  })
})
