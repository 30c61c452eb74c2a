import { describe, expect, test } from 'vitest'
import { isBasePath } from './is-base-path.ts'

describe('isBasePath', () => {
  test.each([
    '/',
    '/app/',
    '/a/b/',
    '/my app/',
    '/ /',
    '/a\u00A0b/',
    '/grün/',
    '/100%/',
    '/.hidden/',
    '/a.b/',
  ])('accepts %j', (base) => {
    expect(isBasePath(base)).toBe(true)
  })

  test.each([
    '',
    'app/',
    '/app',
    '//',
    '//evil/',
    '/a//b/',
    '/a?b/',
    '/a#b/',
    '/a\\b/',
    '/a\tb/',
    '/a\nb/',
    '/a\u007Fb/',
    '/a/../b/',
    '/./',
    '/a\uD800b/',
  ])('rejects %j', (base) => {
    expect(isBasePath(base)).toBe(false)
  })
})
