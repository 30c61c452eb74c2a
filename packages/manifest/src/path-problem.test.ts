import { describe, expect, test } from 'vitest'
import { pathProblem } from './path-problem.ts'

describe('pathProblem', () => {
  test.each(['index.html', 'a b/ü.txt', '100%.txt', 'a+b', '[id].js', '.well-known/security.txt', 'a..b'])(
    'accepts %j',
    (path) => {
      expect(pathProblem(path)).toBeUndefined()
    },
  )

  test.each([
    '',
    '/a',
    'a//b',
    'a/',
    './a',
    '../a',
    'a/../b',
    'a\\b',
    '.env',
    '.vite/manifest.json',
    '.serve-dist/manifest.json',
    'a\nb',
    'a\u007Fb',
    'a\uD800b',
    '.well-known/.secret',
  ])('rejects %j', (path) => {
    expect(pathProblem(path)).toBeTypeOf('string')
  })
})
