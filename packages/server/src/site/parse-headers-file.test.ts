import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { parseHeadersFile } from './parse-headers-file.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'

describe('parseHeadersFile', () => {
  test('parses paths, fields, comments and blank lines', () => {
    const text =
      '# all\r\n/*\r\n  X-Frame-Options: DENY\r\n\tX-B:2\r\n\r\n/a/*\n  ! X-B\n  Link: </a>; rel=preload\n  link: </b>'
    expect(parseHeadersFile(text)).toEqual({
      rules: [
        { pattern: '/*', fields: { 'X-Frame-Options': 'DENY', 'X-B': '2' } },
        { pattern: '/a/*', fields: { 'X-B': null, Link: '</a>; rel=preload, </b>' } },
      ],
      problems: [],
    })
  })

  test.each([
    ['  X-A: 1', '_headers:1: this field comes before the first path'],
    ['https://x.example/*\n  X-A: 1', '_headers:1: "https://x.example/*" is not a path'],
    ['/*\n  nonsense', '_headers:2: "nonsense" is not a field'],
    ['/*\n  Basic-Auth: u:p', '_headers:2: Basic-Auth is not supported'],
    ['/*\n  Content-Length: 3', '_headers:2: serve-dist sets the field Content-Length itself'],
    ['/*\n  X Y: 3', '_headers:2: "X Y" is not the name of a field'],
    ['/*\n  ! Content-Encoding', '_headers:2: serve-dist sets the field Content-Encoding itself'],
    ['/*\n  ! etag', '_headers:2: serve-dist sets the field etag itself'],
    ['/*\n  ! "x"', '_headers:2: ""x"" is not the name of a field'],
  ])('reports the problem of %j', (text, problem) => {
    const { rules, problems } = parseHeadersFile(text)
    expect(problems).toEqual([expect.stringContaining(problem)])
    expect(rules.flatMap(({ fields }) => Object.keys(fields))).toEqual([])
  })

  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'accepts the field name %s',
    (name) => {
      const { rules, problems } = parseHeadersFile(`/*\n  ${name}: a\n  ${name}: b\n/x\n  ! ${name}`)
      expect(problems).toEqual([])
      expect(rules.map(({ fields }) => Object.entries(fields))).toEqual([[[name, 'a, b']], [[name, null]]])
    },
  )

  test('does not join cookies', () => {
    expect(parseHeadersFile('/*\n  Set-Cookie: a=1\n  set-cookie: b=2\n')).toEqual({
      rules: [{ pattern: '/*', fields: { 'Set-Cookie': 'a=1' } }],
      problems: ['_headers:3: a second Set-Cookie for one path is not supported. Remove one of the two.'],
    })
  })

  test('parses a hostile file in linear time', () => {
    for (const text of hostileTexts(
      [' ', '!', '! a', ':', 'a', '/', '\r', '#', '/*\n', '/*\n a:b\n'],
      ['', '/*\n '],
    ))
      expect(millisecondsOf(() => parseHeadersFile(text))).toBeLessThan(linearTimeLimit)
  })

  test('accepts any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        for (const { pattern } of parseHeadersFile(text).rules) expect(pattern).toMatch(/^\//)
      }),
    )
  })
})
