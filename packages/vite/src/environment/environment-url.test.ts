import { describe, expect, test } from 'vitest'
import { importedUrl, pageUrl, type UrlRules } from './environment-url.ts'

function rules(base: string, rendered?: ReturnType<NonNullable<UrlRules['experimental']['renderBuiltUrl']>>) {
  return { base, experimental: { renderBuiltUrl: () => rendered } }
}

describe('importedUrl', () => {
  test.each([
    ['/', 'assets/a.js', '/env.js'],
    ["/it's/", 'assets/a.js', '/it%27s/env.js'],
    ['./', 'a.js', './env.js'],
    ['', 'assets/deep/er/a.js', '../../../env.js'],
    ['https://cdn.example.org/app/', 'a.js', 'https://cdn.example.org/app/env.js'],
    ['//cdn.example.org/', 'a.js', '//cdn.example.org/env.js'],
  ])('returns with the base %j, for the chunk %s, %s', (base, chunk, url) => {
    expect(importedUrl(rules(base), 'env.js', chunk)).toBe(url)
  })

  test.each([
    ['https://cdn.example.org/env.js', 'https://cdn.example.org/env.js'],
    [{ relative: true }, '../env.js'],
    [{ runtime: 'window.at("env.js")' }, '../env.js'],
    [{ relative: false }, '/env.js'],
    [undefined, '/env.js'],
  ])('returns, if renderBuiltUrl returns %j, %s', (rendered, url) => {
    expect(importedUrl(rules('/', rendered), 'env.js', 'assets/a.js')).toBe(url)
  })
})

test.each([[{ relative: true }], [{ runtime: 'window.at("env.js")' }], [undefined]])(
  'importedUrl returns a URL on the host of the chunks if only pages name it (in scripts: %j)',
  (inScripts) => {
    const renderBuiltUrl = (path: string, { hostType }: { readonly hostType: string }) =>
      hostType === 'html' ? `https://cdn.example.org/${path}` : inScripts
    const found = { base: '/app/', experimental: { renderBuiltUrl } }
    expect(importedUrl(found, 'env.js', 'assets/a.js')).toBe('https://cdn.example.org/env.js')
    expect(pageUrl(found, 'env.js', 'page.html')).toBe('/app/env.js')
  },
)

describe('pageUrl', () => {
  test.each([
    ['/app/', 'deep/page.html', '/app/env.js'],
    ['./', 'deep/page.html', '../env.js'],
    ['https://cdn.example.org/app/', 'page.html', '/app/env.js'],
    ['//cdn.example.org/', 'page.html', '/env.js'],
  ])("returns with the base %j, for %s, %s on the page's host", (base, page, url) => {
    expect(pageUrl(rules(base), 'env.js', page)).toBe(url)
  })
})
