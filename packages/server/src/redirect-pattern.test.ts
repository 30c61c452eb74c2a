import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchRedirect, toRedirectPattern } from './redirect-pattern.ts'
import { fakeSite } from './testing/fake-site.ts'

const { table } = fakeSite({ 'index.html': '<p>', 'data.json': '{}' })

function location(from: string, to: string, path: string): string | undefined {
  return matchRedirect([toRedirectPattern({ from, to }, table)], path)?.location
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
    ['/x/:id', '/y/:other', '/x/1', '/y/:other'],
  ])('%s → %s on %s gives %s', (from, to, path, expected) => {
    expect(location(from, to, path)).toBe(expected)
  })

  test('lets the first rule that matches count', () => {
    const patterns = [
      toRedirectPattern({ from: '/a/b', to: '/first', status: 301 }, table),
      toRedirectPattern({ from: '/a/*', to: '/second' }, table),
    ]
    expect(matchRedirect(patterns, '/a/b')).toMatchObject({ location: '/first', status: 301 })
    expect(matchRedirect(patterns, '/a/c')).toMatchObject({ location: '/second', status: 308 })
  })

  test('finds the file of a rewrite, and passes over one that is not there', () => {
    const rewrite = toRedirectPattern({ from: '/api/*', to: '/data.json', status: 200 }, table)
    expect(matchRedirect([rewrite], '/api/x')?.target?.path).toBe('data.json')
    const missing = toRedirectPattern({ from: '/api/*', to: '/none.json', status: 200 }, table)
    expect(matchRedirect([missing], '/api/x')).toBeUndefined()
  })

  test('never gives another host than the rule names', () => {
    const segment = fc.string({
      unit: fc.constantFrom('/', '%', '2', 'F', '5', 'C', 'a', '.', ':', '@', '*'),
    })
    fc.assert(
      fc.property(segment, segment, (first, second) => {
        for (const to of ['/:splat', '/:id/:splat', '/:id:splat']) {
          const found = matchRedirect(
            [toRedirectPattern({ from: '/:id/*', to }, table), toRedirectPattern({ from: '/*', to }, table)],
            `/${first}/${second}`,
          )
          expect(found?.location ?? '/').toMatch(/^\/(?![/\\])/)
        }
      }),
    )
  })
})
