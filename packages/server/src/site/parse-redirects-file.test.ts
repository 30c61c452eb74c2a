import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseRedirectsFile } from './parse-redirects-file.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'

describe('parseRedirectsFile', () => {
  test.each([
    ['/old /new', { from: '/old', to: '/new', status: 301, force: false }],
    ['/old\t/new   302 # moved', { from: '/old', to: '/new', status: 302, force: false }],
    ['/* /index.html 200', { from: '/*', to: '/index.html', status: 200, force: false }],
    [
      '/a id=:id tag=a+b%26 /b/:id',
      { from: '/a', query: { id: ':id', tag: 'a b&' }, to: '/b/:id', status: 301, force: false },
    ],
    [
      '/a/* https://b.example/:splat 308!',
      { from: '/a/*', to: 'https://b.example/:splat', status: 308, force: true },
    ],
    [
      '/api/* https://api.example/:splat 200!',
      { from: '/api/*', to: 'https://api.example/:splat', status: 200, force: true },
    ],
    [
      '/api/* unix:/run/api.sock:/v1/:splat 200',
      { from: '/api/*', to: 'unix:/run/api.sock:/v1/:splat', status: 200, force: false },
    ],
  ])('reads %j', (line, rule) => {
    expect(parseRedirectsFile(`# rules\n\n${line}\n`)).toEqual({ rules: [rule], problems: [] })
  })

  test.each([
    ['/old', 'has no target'],
    ['/a id /b 301', 'the condition id is not supported'],
    ['/a id=:id /b/:name 301', 'to: ":name" is not a variable of "/a"'],
    ['/a/:id id=:id /b 301', 'query: ":id" occurs twice'],
    ['/a /b 301 Country=de', 'the condition Country=de is not supported'],
    ['/a /b Language=de', 'the condition Language=de is not supported'],
    ['/a /b 418', 'status 418 is not supported'],
    ['/api/* https://api.example/?a 200', 'to: expected an address such as'],
    ['https://old.example/* /new', 'from: expected a path'],
    ['/a //evil.example', 'to: expected a path'],
  ])('reports and skips %j', (line, problem) => {
    const { rules, problems } = parseRedirectsFile(`/x /y\n${line}`)
    expect(rules).toHaveLength(1)
    expect(problems).toEqual([expect.stringContaining(problem)])
    expect(problems[0]).toMatch(/^_redirects:2: /)
  })

  test('parses a hostile file in linear time', () => {
    for (const text of hostileTexts(
      [' ', '#', ' #', '/', '\r', '/* ', ':a', '/:a', '/:a-'],
      ['', '/x /y ', '/'],
    ))
      expect(millisecondsOf(() => parseRedirectsFile(text))).toBeLessThan(linearTimeLimit)
  })

  test('accepts any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const { from } of parseRedirectsFile(text).rules) expect(from).toMatch(/^\//)
      }),
    )
  })
})
