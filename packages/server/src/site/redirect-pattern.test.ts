import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RedirectRule } from '@serve-dist/manifest'
import { compileRedirects, matchRedirect } from './redirects.ts'
import type { RedirectPattern } from './site.ts'
import { fakeSite } from '../../test/support/fake-site.ts'
import { hostileTexts, linearTimeLimit, millisecondsOf } from '../../test/support/hostile-texts.ts'

const { table } = fakeSite({ 'index.html': '<p>', 'data.json': '{}' })

function patternsOf(...rules: RedirectRule[]): readonly RedirectPattern[] {
  return compileRedirects(rules, table).patterns
}

function location(from: string, to: string, path: string): string | undefined {
  return matchRedirect(patternsOf({ from, to }), path)?.location
}

/** Normalizes a path: letters are not escaped. */
function plain(text: string): string {
  return text.replaceAll('%41', 'A')
}

describe('matchRedirect', () => {
  test.each([
    ['/old', '/new', '/old', '/new'],
    ['/old', '/new', '/old/', undefined],
    ['/old', '/new', '/older', undefined],
    ['/old/*', '/new/:splat', '/old/a/b', '/new/a/b'],
    ['/old/*', '/new', '/old/', '/new'],
    ['/old/*', '/new', '/old', '/new'],
    ['/news/:year/:slug', '/archive/:slug?y=:year', '/news/2026/hi', '/archive/hi?y=2026'],
    ['/news/:year', '/x', '/news/', undefined],
    ['/über uns', '/about', '/%C3%BCber%20uns', '/about'],
    ['/%C3%BCber%20uns', '/about', '/%C3%BCber%20uns', '/about'],
    ['/100%', '/all', '/100%25', '/all'],
    ['/shop/*', 'https://shop.example/:splat', '/shop/cart', 'https://shop.example/cart'],
    ['/x/:id', '/wiki/File:Logo', '/x/1', '/wiki/File:Logo'],
    ['/posts/:id.html', '/p/:id', '/posts/a.b.html', '/p/a.b'],
    ['/posts/:id.html', '/p/:id', '/posts/a.css', undefined],
    ['/posts/:id.html', '/p/:id', '/posts/.html', undefined],
    ['/v:major.:minor/*', '/:major/:minor/:splat', '/v1.2/a', '/1/2/a'],
    ['/v:major.:minor', '/:major/:minor', '/v1', undefined],
    ['/:a-:b', '/:b/:a', '/x-y-z', '/z/x-y'],
    ['/:a:b', '/:b/:a', '/xyz', '/z/xy'],
    ['/:a:b', '/:b/:a', '/x', undefined],
    ['/über-:id', '/:id', '/%C3%BCber-%C3%BC', '/%C3%BC'],
    ['/*', '/new/:splat', '/', '/new/'],
    ['/*', '/new/:splat', '/news/a', '/new/news/a'],
    ['/:section/*', '/:splat', '/a/b', '/b'],
    ['/:page', '/lost?was=:page', '/a', '/lost?was=a'],
    ['/find/:what', '/search?q=:what', '/find/a&admin=1', '/search?q=a%26admin%3D1'],
    ['/find/:what', '/search?q=:what', '/find/a+b;c%C3%BC%2Fd', '/search?q=a%2Bb%3Bc%C3%BC%2Fd'],
    ['/find/*', '/search?q=:splat&p=1', '/find/a/b', '/search?q=a%2Fb&p=1'],
    ['/find/*', '/#/:splat', '/find/a/b&c', '/#/a/b%26c'],
    ['/find/*', '/:splat?q=:splat#:splat', '/find/a=/b', '/a=/b?q=a%3D%2Fb#a%3D/b'],
    ['/find/:what', '/new/:what/x', '/find/a%3Fb%23c', '/new/a%3Fb%23c/x'],
    ['/blog/:year/:slug', '/blog/:slug/:year', '/blog/2026/hi', '/blog/hi/2026'],
  ])('%s → %s on %s gives %s', (from, to, path, expected) => {
    expect(location(from, to, path)).toBe(expected)
  })

  test.each([
    ['/*', '/new/:splat', '/new/a'],
    ['/*', '/new/:splat', '/new/new/a'],
    ['/*', '/new/:splat?was=1', '/new/a'],
    ['/:lang/*', '/en/:lang/:splat', '/en/de/a'],
    ['/:page', '/lost?was=:page', '/lost'],
    ['/:page', '/new-:page', '/new-a'],
    ['/:letter', '/%c3%bc', '/%C3%BC'],
  ])('ignores the endless redirect %s → %s for %s', (from, to, path) => {
    expect(location(from, to, path)).toBeUndefined()
  })

  test('applies the first matching rule', () => {
    const patterns = patternsOf({ from: '/a/b', to: '/first', status: 301 }, { from: '/a/*', to: '/second' })
    expect(matchRedirect(patterns, '/a/b')).toMatchObject({ location: '/first', status: 301 })
    expect(matchRedirect(patterns, '/a/c')).toMatchObject({ location: '/second', status: 308 })
  })

  test('finds the file of a rewrite and skips a rewrite whose file is missing', () => {
    const rewrite = patternsOf({ from: '/api/*', to: '/data.json', status: 200 })
    expect(matchRedirect(rewrite, '/api/x')?.target?.path).toBe('data.json')
    const missing = patternsOf({ from: '/api/*', to: '/none.json', status: 200 })
    expect(matchRedirect(missing, '/api/x')).toBeUndefined()
  })

  test('splits segments like a greedy regular expression', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', '-', '.', '%41'), maxLength: 4 })
    const literals = fc.array(texts, { minLength: 1, maxLength: 4 })
    const segment = fc.string({ unit: fc.constantFrom('a', 'b', '-', '.', '%41'), maxLength: 12 })
    fc.assert(
      fc.property(literals, segment, (parts, asked) => {
        const names = parts.slice(1).map((_, index) => `n${index}_`)
        const from = `/${parts.map((part, index) => `${part}${index < names.length ? `:${names[index]}` : ''}`).join('')}`
        // The text after a variable must not continue its name or an escape.
        fc.pre(parts.slice(1).every((part) => !/^[a%]/.test(part)))
        const to = `/x${names.map((name) => `/:${name}`).join('')}`
        const form = new RegExp(
          `^${parts.map((part) => plain(part).replaceAll('.', String.raw`\.`)).join('(.+)')}$`,
        )
        const groups = form.exec(plain(asked))?.slice(1)
        expect(location(from, to, `/${plain(asked)}`)).toBe(groups && ['/x', ...groups].join('/'))
      }),
    )
  })

  test('matches a hostile path in linear time', () => {
    const rules = patternsOf(
      ...['/:a-:b-:c-:d.html', '/:a:b:c:d/x', '/*', '/:a/*'].map((from) => ({ from, to: '/:a/:splat/:b' })),
    )
    for (const path of hostileTexts(['-', 'a', '/', 'a-', '%2F'], ['/', '/-'], ['', '.htm', '/x'])) {
      for (const rule of rules)
        expect(millisecondsOf(() => matchRedirect([rule], path))).toBeLessThan(linearTimeLimit)
    }
  })

  test('never redirects to a host that the rule does not name', () => {
    const segment = fc.string({
      unit: fc.constantFrom('/', '%', '2', 'F', '5', 'C', 'a', '.', ':', '@', '*'),
    })
    fc.assert(
      fc.property(segment, segment, (first, second) => {
        for (const to of ['/:splat', '/:id/:splat', '/:id:splat']) {
          const found = matchRedirect(
            patternsOf({ from: '/:id/*', to }, { from: '/*', to }),
            `/${first}/${second}`,
          )
          expect(found?.location ?? '/').toMatch(/^\/(?![/\\])/)
        }
      }),
    )
  })
})
