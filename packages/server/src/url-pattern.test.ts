import { describe, expect, test } from 'vitest'
import { matchesUrlPattern } from './url-pattern.ts'

describe('matchesUrlPattern', () => {
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
  ])('%s on %s: %s', (pattern, path, matches) => {
    expect(matchesUrlPattern(pattern, path)).toBe(matches)
  })
})
