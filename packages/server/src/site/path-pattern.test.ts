import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodePath } from '../protocol/request-path.ts'
import { matchPath, parsePathPattern } from './path-pattern.ts'

function matches(pattern: string, path: string): boolean {
  return matchPath(parsePathPattern(pattern), encodePath(path)) !== undefined
}

describe('matchPath', () => {
  test.each([
    ['/*', '/', true],
    ['/*', '/a/b.js', true],
    ['/assets/*', '/assets/a/b.js', true],
    ['/assets/*', '/assets', false],
    ['/*.js', '/assets/a.js', true],
    ['/*.js', '/assets/a.json', false],
    ['/a.js', '/aXjs', false],
    ['/users/:id', '/users/1', true],
    ['/users/:id', '/users/1/2', false],
    ['/users/:id/*', '/users/1/2', true],
    ['/ü [x]', '/ü [x]', true],
    ['/%C3%BC%20[x]', '/ü [x]', true],
    ['/a%2Ab', '/a*b', true],
    ['/a%2Ab', '/axb', false],
    ['/100%', '/100%', true],
    ['/100%25', '/100%', true],
    ['/100%/a%20b', '/100%/a b', true],
    ['/*20*', '/a b.html', false],
    ['/*0', '/a ', false],
    ['/*%20*', '/a b.html', true],
    ['/*b.html', '/a b.html', true],
    ['/a\\b', '/a\\b', true],
    ['/a', '/a\n', false],
    ['/*', '/a\nb', true],
    ['/:a/*.js', '/x/y/z.js', true],
    ['/:a*', '/x/y', true],
    ['/*/:b-:c/*', '/w/x/y-z/q', true],
    ['/*/:b-:c', '/a-b/c', false],
  ])('%s on %s: %s', (pattern, path, expected) => {
    expect(matches(pattern, path)).toBe(expected)
  })

  test.each(['/a%2Fb', '/a%2fb'])('keeps the escape of %s, as in a request', (pattern) => {
    expect(matchPath(parsePathPattern(pattern), '/a%2Fb')).toBeDefined()
    expect(matchPath(parsePathPattern(pattern), '/a/b')).toBeUndefined()
  })

  test('matches only itself if it has no variables', () => {
    const text = fc.string({ unit: 'grapheme' }).filter((path) => !/[*%]|:[A-Za-z]/.test(path))
    fc.assert(
      fc.property(text, text, (pattern, path) => {
        expect(matches(`/${pattern}`, `/${pattern}`)).toBe(true)
        expect(matches(`/${pattern}`, `/${path}`)).toBe(pattern === path)
      }),
    )
  })

  test('matches any values of its variables', () => {
    const segment = fc.string({ unit: fc.constantFrom('a', '.', '-', 'ü', '$'), minLength: 1 })
    const rest = fc.string({ unit: fc.constantFrom('a', '.', '/', 'ü', '$') })
    fc.assert(
      fc.property(segment, rest, (id, splat) => {
        expect(matches('/u/:id/x/*.js', `/u/${id}/x/${splat}.js`)).toBe(true)
        expect(matches('/u/:id', `/u/${id}/${splat}`)).toBe(false)
        expect(matches('/u/*/x', `/u/${splat}/y`)).toBe(false)
      }),
    )
  })
})
