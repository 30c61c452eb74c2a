import type { RedirectRule } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { decide } from './decide.ts'
import type { Answer, Site } from './site.ts'
import { fakeSite } from '../../test/support/fake-site.ts'
import { createRequestFields } from '../../test/support/create-request-fields.ts'

const page = { mediaType: 'text/html; charset=utf-8' }
const files = {
  'index.html': { body: 'INDEX', ...page },
  'about.html': { body: 'ABOUT', ...page },
  'docs/index.html': { body: 'DOCS', ...page },
  'missing.html': { body: 'MISSING', ...page },
  'assets/app.js': { body: 'SCRIPT', mediaType: 'text/javascript; charset=utf-8' },
  'secret.txt': 'SECRET',
}

function siteWith(...redirects: RedirectRule[]): Site {
  return fakeSite(files, { rules: { redirects } })
}

/** Returns the status, then the location or the body. */
function shown(answer: Answer | undefined): string | undefined {
  if (answer === undefined) return undefined
  const location = answer.fields[answer.fields.indexOf('Location') + 1]
  const body = answer.content.kind === 'memory' ? Buffer.from(answer.content.bytes).toString() : location
  return `${answer.status} ${body}`
}

function answerTo(site: Site, target: string, fields: object = {}): string | undefined {
  return shown(decide(site, createRequestFields({ target, ...fields }), 'none'))
}

const navigation = { secFetchMode: 'navigate' }

describe('buildTable', () => {
  test.each([
    ['/docs', '308 /docs/'],
    ['/about/', '308 /about'],
    ['/docs/', '200 DOCS'],
    ['/about', '200 ABOUT'],
    ['/assets/app.js', '200 SCRIPT'],
    ['/unknown', '200 INDEX'],
  ])('prefers the build, including its own redirects, to rules without force: %s', (target, expected) => {
    const rewrite = siteWith({ from: '/*', to: '/index.html', status: 200 })
    expect(answerTo(rewrite, target, navigation)).toBe(expected)
    const redirect = siteWith({ from: '/*', to: 'https://new.example/:splat', status: 301 })
    const elsewhere = target === '/unknown' ? '301 https://new.example/unknown' : expected
    expect(answerTo(redirect, target, navigation)).toBe(elsewhere)
  })

  test.each([
    ['/docs', '200 INDEX'],
    ['/about/', '200 INDEX'],
    ['/about', '200 INDEX'],
    ['/assets/app.js', '200 SCRIPT'],
    ['/secret.txt', '200 SECRET'],
  ])('replaces only pages with a page of a forced rule: %s', (target, expected) => {
    const site = siteWith({ from: '/*', to: '/index.html', status: 200, force: true })
    expect(answerTo(site, target)).toBe(expected)
    expect(answerTo(site, target, navigation)).toBe(expected)
  })

  test('replaces any file with a file of a forced rule that is not a page', () => {
    const site = siteWith({ from: '/assets/*', to: '/secret.txt', status: 200, force: true })
    expect(answerTo(site, '/assets/app.js')).toBe('200 SECRET')
  })

  test('hides a file behind the 404 page of a forced rule, despite other rules for its path', () => {
    const site = siteWith(
      { from: '/*', to: '/index.html', status: 200 },
      { from: '/secret.txt', to: '/missing.html', status: 404, force: true },
    )
    for (const fields of [{}, navigation, { method: 'HEAD' }, { range: 'bytes=0-' }])
      expect(answerTo(site, '/secret.txt', fields)).toBe('404 MISSING')
    expect(answerTo(site, '/secret.txt', { acceptEncoding: 'identity;q=0' })).toBe('404 404 Not Found\n')
    expect(answerTo(site, '/secret.txt', { method: 'POST' })).toBeUndefined()
    expect(answerTo(site, '/secret.txt', { method: 'OPTIONS' })).toBeUndefined()
    expect(answerTo(site, '/about')).toBe('200 ABOUT')
  })
})
