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
  ])('has nothing against %s', (glob) => {
    expect(globProblem(glob)).toBeUndefined()
  })

  test.each([
    ['', 'expected a glob'],
    ['a'.repeat(4097), 'of 4096 characters at most'],
    ['*a*b*c*d', '3 stars in a segment at most'],
    ['assets/**a*b*c*/x', '3 stars in a segment at most'],
    ['*a*b{*c,d}*e', '3 stars in a segment at most'],
    ['?(*a)?(*a)?(*a)?(*a)b', '3 stars in a segment at most'],
    ['{{*a*,b}*c,d}*e', '3 stars in a segment at most'],
    ['+(a*)b', 'in a repeated group'],
    ['*(x|+(a))b', 'in a repeated group'],
  ])('refuses %.40s', (glob, problem) => {
    expect(globProblem(glob)).toContain(problem)
  })

  test('reads any text', () => {
    const text = fc.string({ unit: fc.constantFrom('*', '(', ')', '{', '}', ',', '|', '/', 'a', '+') })
    fc.assert(
      fc.property(text, (glob) => {
        expect(typeof globProblem(glob)).toMatch(/string|undefined/)
      }),
    )
  })
})
