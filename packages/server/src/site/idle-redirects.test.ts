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
