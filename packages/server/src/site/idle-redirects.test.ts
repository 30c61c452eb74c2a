import type { RedirectRule } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { compileRedirects } from './redirects.ts'
import { fakeSite } from '../../test/support/fake-site.ts'

const html = { mediaType: 'text/html; charset=utf-8' }
const files = { 'index.html': { body: 'i', ...html }, 'docs/index.html': { body: 'd', ...html }, 'a.js': 'a' }

const { table } = fakeSite(files)

function idle(rule: RedirectRule): string[] {
  return [...compileRedirects([rule], table).problems]
}

describe('compileRedirects', () => {
  test.each<[RedirectRule, string]>([
    [{ from: '/x', to: '/none.html', status: 200 }, 'the build has no file /none.html for status 200'],
    [{ from: '/x', to: '/none.html', status: 404, force: true }, 'the build has no file /none.html'],
    [{ from: '/docs/', to: '/docs', force: true }, '/docs redirects back to it in an endless loop'],
    [{ from: '/x', to: '/x?y=1' }, '/x?y=1 redirects back to it'],
    [{ from: '/über', to: '/%c3%bcber#top' }, '/%c3%bcber#top redirects back to it'],
  ])('reports %j', (rule, reason) => {
    expect(idle(rule)).toEqual([
      expect.stringContaining(`the redirect of ${rule.from} is ignored: ${reason}`),
    ])
  })

  test('reports rules that no request can match', () => {
    const rules: RedirectRule[] = [
      { from: '/x', query: { a: '1' }, to: '/y' },
      { from: '/x', to: '/y' },
      { from: '/x', to: '/z' },
      { from: '/a.js', to: '/z' },
      { from: '/docs', to: '/z' },
      { from: '/items/:id', to: '/z/:id' },
      { from: '/items/:id', to: '/y/:id' },
      { from: '/*', to: '/index.html', status: 200 },
      { from: '/late', to: '/z' },
      { from: '/early', to: '/z', force: true },
    ]
    expect(compileRedirects(rules, table).problems).toEqual([
      'the rule /x never matches: the rule /x before it matches all of its paths',
      'the rule /a.js never matches: the build has this path. Add force: true to override it',
      'the rule /docs never matches: the build has this path. Add force: true to override it',
      'the rule /items/:id never matches: the rule /items/:id before it matches all of its paths',
      'the rule /late never matches: the rule /* before it matches all of its paths',
    ])
  })

  test('does not report the rules after those of a maintenance', () => {
    const maintenance = { from: '/*', to: '/index.html', status: 503, force: true } as const
    const rules: RedirectRule[] = [
      maintenance,
      { from: '/x', to: '/y' },
      { from: '/z', to: '/y', force: true },
    ]
    expect(compileRedirects(rules, table).problems).toEqual([])
  })

  test.each<[RedirectRule]>([
    [{ from: '/x', to: '/y' }],
    [{ from: '/*', to: '/index.html', status: 200 }],
    [{ from: '/*', to: '/index.html', status: 200, force: true }],
    [{ from: '/a.js', to: '/x', force: true }],
    [{ from: '/a.js', to: '/index.html', status: 404, force: true }],
    [{ from: '/docs', to: '/index.html', status: 200, force: true }],
    [{ from: '/docs/', to: '/a.js', status: 200, force: true }],
    [{ from: '/docs', to: '/docs/', force: true }],
    [{ from: '/', to: 'https://new.example/', force: true }],
  ])('accepts %j', (rule) => {
    expect(idle(rule)).toEqual([])
  })
})
