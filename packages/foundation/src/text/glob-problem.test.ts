import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { globProblem } from './glob-problem.ts'

describe('globProblem', () => {
  test.each([
    '**',
    '{**,**}',
    '!**/*.map',
    'assets/**/*-*.[0-9a-f]*.js',
    '*.{a*,b*,c*,d*,e*}',
    '@(a*|b*|c*|d*).js',
    'a*/b*/c*/d*/e*',
    '!(*.map|*.txt)',
    '+(ab|c).js',
    String.raw`\*\*\*\*\*/**`,
  ])('accepts %s', (glob) => {
    expect(globProblem(glob)).toBeUndefined()
  })

  test.each([
    ['', 'expected a glob'],
    ['a'.repeat(4097), 'of at most 4096 characters'],
    ['*a*b*c*d', 'at most 3 stars in a segment'],
    ['assets/**a*b*c*/x', 'at most 3 stars in a segment'],
    ['*a*b{*c,d}*e', 'at most 3 stars in a segment'],
    ['?(*a)?(*a)?(*a)?(*a)b', 'at most 3 stars in a segment'],
    ['{{*a*,b}*c,d}*e', 'at most 3 stars in a segment'],
    ['+(a*)b', 'in a repeated group'],
    ['*(x|+(a))b', 'in a repeated group'],
  ])('rejects %.40s', (glob, problem) => {
    expect(globProblem(glob)).toContain(problem)
  })

  test('accepts or rejects any text without an exception', () => {
    const text = fc.string({ unit: fc.constantFrom('*', '(', ')', '{', '}', ',', '|', '/', 'a', '+') })
    fc.assert(
      fc.property(text, (glob) => {
        expect(typeof globProblem(glob)).toMatch(/string|undefined/)
      }),
    )
  })
})
