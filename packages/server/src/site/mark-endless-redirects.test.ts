import type { RedirectRule } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { decide } from './decide.ts'
import { fakeSite } from '../../test/support/fake-site.ts'
import { createRequestFields } from '../../test/support/create-request-fields.ts'

const html = { mediaType: 'text/html; charset=utf-8' }
const files = { 'index.html': { body: 'i', ...html }, 'docs/index.html': { body: 'd', ...html } }

/** Follows redirects within the site and returns their statuses; 20 redirects count as endless. */
function wayFrom(target: string, redirects: readonly RedirectRule[]): readonly (number | undefined)[] {
  const site = fakeSite(files, { rules: { redirects } })
  const statuses: (number | undefined)[] = []
  for (let place: string | undefined = target; place?.startsWith('/') === true && statuses.length < 20;) {
    const answer = decide(site, createRequestFields({ target: place }), 'none')
    statuses.push(answer?.status)
    const index = answer?.fields.indexOf('Location') ?? -1
    // Clients send no fragment.
    place = index === -1 ? undefined : answer?.fields[index + 1]?.replace(/#.*/s, '')
  }
  return statuses
}

describe('compileRedirects', () => {
  test.each<[string, RedirectRule[], (number | undefined)[]]>([
    ['/docs/', [{ from: '/docs/', to: '/docs', force: true }], [200]],
    ['/docs', [{ from: '/docs/', to: '/docs', force: true }], [308, 200]],
    ['/a', [{ from: '/a', to: '/a?b=c' }], [undefined]],
    [
      '/b',
      [
        { from: '/a', to: '/b' },
        { from: '/b', to: '/c' },
        { from: '/c', to: '/a#top' },
      ],
      [308, 308, undefined],
    ],
    [
      '/x',
      [
        { from: '/x', to: '/a', status: 301 },
        { from: '/a', to: '/b' },
        { from: '/b', to: '/a' },
      ],
      [301, undefined],
    ],
    ['/docs/', [{ from: '/docs/', to: '/index.html', status: 301, force: true }], [301, 200]],
    ['/old', [{ from: '/old', to: 'https://a.example/old' }], [308]],
    [
      '/a',
      [
        { from: '/b', to: '/index.html', status: 200 },
        { from: '/a', to: '/b' },
        { from: '/b', to: '/a' },
      ],
      [308, 200],
    ],
    [
      '/a',
      [
        { from: '/a', to: '/b' },
        { from: '/b/*', to: '/c/:splat' },
        { from: '/b', to: '/a' },
      ],
      [308, 308, undefined],
    ],
    [
      '/a',
      [
        { from: '/docs/*', to: '/c/:splat', force: true },
        { from: '/a', to: '/docs' },
        { from: '/docs/', to: '/a', force: true },
      ],
      [308, 308, undefined],
    ],
    [
      '/docs/',
      [
        { from: '/*', to: '/index.html', status: 200 },
        { from: '/docs/', to: '/docs', force: true },
      ],
      [200],
    ],
  ])('follows %s with %j: %j', (target, redirects, statuses) => {
    expect(wayFrom(target, redirects)).toEqual(statuses)
  })
})
