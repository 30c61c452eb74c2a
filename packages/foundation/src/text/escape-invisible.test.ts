import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { escapeInvisible, escapeMessage } from './escape-invisible.ts'

describe('escapeInvisible', () => {
  test.each([
    ['assets/a.js', 'assets/a.js'],
    ['naïve 日本.txt', 'naïve 日本.txt'],
    ['a\u001B[31m', String.raw`a\u{1b}[31m`],
    ['a\u009B2J\u007F\u0085', String.raw`a\u{9b}2J\u{7f}\u{85}`],
    ['a\u202Egpj.exe', String.raw`a\u{202e}gpj.exe`],
    ['a\r\nb\u2028c', String.raw`a\u{d}\u{a}b\u{2028}c`],
  ])('escapes %j as %s', (text, shown) => {
    expect(escapeInvisible(text)).toBe(shown)
  })
})

describe('escapeMessage', () => {
  test('keeps line feeds and tabs', () => {
    expect(escapeMessage('a\u009B:\n\tb\u007F')).toBe('a\\u{9b}:\n\tb\\u{7f}')
  })

  test('does not change its own output', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const once = escapeMessage(text)
        expect(escapeMessage(once)).toBe(once)
        expect(once).not.toMatch(/(?![\n\t])[\p{Cc}\u202A-\u202E]/u)
      }),
    )
  })
})
