import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { problemsOf, read as readBy } from './schema.ts'
import { servingRuleNames, servingRules } from './serving-rules-schema.ts'
import type { ServingRules } from './serving-rules.ts'

const all: ServingRules = {
  prefer: 'smallest',
  fallback: '404',
  immutable: ['vendor/*.js'],
  cacheControl: { 'data/**': 'public, max-age=60' },
  headers: { '**': { 'X-Frame-Options': 'DENY', 'X-Content-Type-Options': null } },
  redirects: [
    { from: '/old/*', to: '/new/:splat', status: 301, force: true },
    { from: '/shop/:id', to: 'https://shop.example:8080/:id' },
    { from: '/in/:lang/*', to: 'https://:lang.shop.example/:splat' },
    { from: '/:year-:month/:slug.html', to: '/wiki/File:Logo/:year/:slug?m=:month' },
  ],
  securityHeaders: true,
  csp: {
    attributes: true,
    reportOnly: false,
    'connect-src': ["'self'", { env: 'API_URL' }],
    'img-src': null,
  },
  earlyHints: false,
  cors: ['fonts/**'],
  sourceMaps: 'deny',
  sharedCache: true,
  keptList: false,
  health: '/healthz',
  basicAuth: { env: 'SITE_PASSWORD', except: ['/.well-known/**'] },
}

const cyclic: unknown[] = []
cyclic.push(cyclic)

function read(document: unknown): { rules: ServingRules; problems: readonly string[] } {
  const problems = problemsOf(servingRules, document)
  return { rules: problems.length > 0 ? {} : readBy(servingRules, document, '', unexpected), problems }
}

function unexpected(problems: readonly string[]): Error {
  return new Error(problems.join())
}

describe('servingRules', () => {
  test('has exactly the rules that docs/configuration.md lists', () => {
    const document = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8')
    const listed = Array.from(document.matchAll(/^- `(\w+)`: /gm), ([, name]) => name)
    expect(listed.toSorted()).toEqual(servingRuleNames().toSorted())
  })

  test('reads all rules', () => {
    expect(read(all)).toEqual({ rules: all, problems: [] })
    expect(servingRuleNames().toSorted()).toEqual(Object.keys(all).toSorted())
  })

  test('omits missing rules', () => {
    expect(read({})).toEqual({ rules: {}, problems: [] })
  })

  test.each<[unknown, string]>([
    ['text', 'expected an object, found "text"'],
    [['a'], 'expected an object, found ["a"]'],
    [{ prefer: 'fastest' }, 'prefer: expected one of "order", "smallest", found "fastest"'],
    [{ fallback: true }, 'fallback: expected one of'],
    [{ immutable: 'x' }, 'immutable: expected a list'],
    [{ immutable: [''] }, 'immutable[0]: expected a glob'],
    [
      { cacheControl: { 'a/*': 60 } },
      'cacheControl["a/*"]: expected a value of Cache-Control in ASCII, found 60',
    ],
    [{ cacheControl: { x: 'a\r\nb: c' } }, 'cacheControl.x: expected a value'],
    [{ headers: { '**': 'x' } }, 'headers["**"]: expected an object'],
    [{ headers: { '**': { 'X-A': 'a\nb' } } }, 'the value of X-A must be visible ASCII'],
    [{ headers: { '**': { 'X-A': 'ü' } } }, 'Escape other characters (RFC 8187)'],
    [{ headers: { '**': { 'X-A': 'a ' } } }, 'the value of X-A must be visible ASCII'],
    [{ headers: { '**': { TE: 'trailers' } } }, 'serve-dist sets the field TE itself'],
    [
      { headers: { '*a*b*c*d': {} } },
      'headers["*a*b*c*d"]: expected a glob with at most 3 stars in a segment',
    ],
    [
      { cacheControl: { '*a*b*c*d': 'no-cache' } },
      'cacheControl["*a*b*c*d"]: expected a glob with at most 3 stars',
    ],
    [{ redirects: [{ from: '/\uD800', to: '/new' }] }, 'redirects[0].from: expected a path'],
    [{ headers: { '**': { 'X A': 'a' } } }, 'headers["**"]["X A"]: "X A" is not the name of a field'],
    [{ headers: { '**': { 'content-length': '1' } } }, 'serve-dist sets the field content-length itself'],
    [{ redirects: [{ from: 'old', to: '/new' }] }, 'redirects[0].from: expected a path'],
    [{ redirects: [{ from: '//old', to: '/new' }] }, 'redirects[0].from: expected a path'],
    [{ redirects: [{ from: '/a*b', to: '/new' }] }, 'redirects[0].from: expected a path'],
    [
      { redirects: [{ from: '/news*', to: '/new' }] },
      '"*" only as its last segment, as in "/old/*", found "/news*"',
    ],
    [{ redirects: [{ from: '/*/x', to: '/new' }] }, 'redirects[0].from: expected a path with "*" only'],
    [
      { redirects: [{ from: '/u/:my-id', to: '/v/:my-id' }] },
      'redirects[0].from: ":my-id" is not a valid variable',
    ],
    [{ redirects: [{ from: '/:a/:a', to: '/' }] }, 'redirects[0].from: ":a" occurs twice'],
    [{ redirects: [{ from: '/:splat/*', to: '/' }] }, 'redirects[0].from: ":splat" occurs twice'],
    [{ redirects: [{ from: '/a', to: '/b/:id' }] }, 'redirects[0].to: ":id" is not a variable of "/a"'],
    [{ redirects: [{ from: '/:id', to: '/b?q=:splat' }] }, 'redirects[0].to: ":splat" is not a variable'],
    [
      { redirects: [{ from: '/*', to: 'https://new.example:splat' }] },
      'redirects[0].to: ":splat" would let a request choose the host',
    ],
    [
      { redirects: [{ from: '/to/:host/*', to: 'https://:host/:splat' }] },
      'redirects[0].to: ":host" would let a request choose the host',
    ],
    [{ redirects: ['/a /b'] }, 'redirects[0]: expected an object with "from" and "to", found "/a /b"'],
    [{ redirects: [{ from: '/a', to: '//evil.example' }] }, 'redirects[0].to: expected a path'],
    [{ redirects: [{ from: '/a', to: '/\\evil.example' }] }, 'redirects[0].to: expected a path'],
    [
      { redirects: [{ from: '/a' }] },
      'an http(s) URL, or (with status 200) "unix:" and a socket, or an object with "env", found nothing',
    ],
    [
      { redirects: [{ from: '/a', status: 404 }] },
      'redirects[0].to: status 404 needs a page of the build: expected its path, such as "/404.html"',
    ],
    [
      { redirects: [{ from: '/a', to: 'unix:/run/api.sock' }] },
      'redirects[0].to: expected a path that starts with one "/", an http(s) URL, or (with status 200) "unix:"',
    ],
    [{ redirects: [{ from: '/a', to: 'javascript:alert(1)' }] }, 'redirects[0].to: expected a path'],
    [{ redirects: [{ from: '/a', to: '/b', status: 418 }] }, 'redirects[0].status: expected one of 200, 301'],
    [{ redirects: [{ from: '/a', to: '/b', force: 'yes' }] }, 'redirects[0].force: expected true or false'],
    [{ cors: true }, 'cors: expected a list'],
    [{ cors: [''] }, 'cors[0]: expected a glob'],
    [{ sourceMaps: 'hide' }, 'sourceMaps: expected one of "serve", "deny", found "hide"'],
    [{ securityHeaders: 1 }, 'securityHeaders: expected true or false, found 1'],
  ])('describes the problem of %j', (document, problem) => {
    expect(read(document).problems).toEqual([expect.stringContaining(problem)])
    expect(read(document).problems[0]).not.toMatch(/^:/)
  })

  test.each<[string, unknown, string]>([
    ['a function', () => ({}), 'expected an object, found a function'],
    ['a function in it', { prefer: () => 'order' }, 'found a function'],
    ['a symbol', { prefer: Symbol('order') }, 'found a symbol'],
    ['a BigInt', { prefer: 10n }, 'found 10n'],
    ['a list of BigInts', { prefer: [1n] }, 'found an object that JSON cannot represent'],
    ['a cycle', { prefer: cyclic }, 'found an object that JSON cannot represent'],
    ['an object without a JSON form', { prefer: { toJSON() {} } }, 'found an object without a JSON form'],
  ])('describes the problem of %s in an object of a program', (_what, document, problem) => {
    expect(read(document).problems).toEqual([expect.stringContaining(problem)])
  })

  test('returns problems, or rules that it reads again unchanged', () => {
    const rule = fc.constantFrom(...servingRuleNames())
    fc.assert(
      fc.property(fc.dictionary(rule, fc.jsonValue()), (document) => {
        const { rules, problems } = read(document)
        const again = problems.length === 0 ? read(rules) : { rules, problems: [] }
        expect(again).toEqual({ rules, problems: [] })
      }),
    )
  })
})
