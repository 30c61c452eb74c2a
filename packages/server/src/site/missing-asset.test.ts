import { describe, expect, test } from 'vitest'
import { fakeBuild, fakeSite } from '../../test/support/fake-site.ts'
import { buildOfReferer, isSkewMiss } from './missing-asset.ts'

const [current, earlier] = ['2'.repeat(16), '1'.repeat(16)]
const site = fakeSite(
  { 'index.html': 'page', 'assets/new.js': { body: 'new', cache: 'immutable' }, 'app.js': 'app' },
  {
    buildId: current,
    base: '/app/',
    assetsDirectory: 'assets',
    kept: [
      fakeBuild(
        { 'assets/old.js': { body: 'old', cache: 'immutable' } },
        { buildId: earlier, base: '/app/' },
      ),
    ],
  },
)

describe('isSkewMiss', () => {
  test.each<readonly [string, string, string, boolean]>([
    ['an unknown script', 'GET', '/app/assets/gone.js', true],
    [
      'an unknown script by HEAD, with a query and unnecessary escapes',
      'HEAD',
      '/app/%61ssets/gone.js?v=1',
      true,
    ],
    ['unknown data', 'GET', '/app/assets/gone.json', true],
    ['a file of the build', 'GET', '/app/assets/new.js', false],
    ['a file of an earlier build', 'GET', '/app/assets/old.js', false],
    ['a source map', 'GET', '/app/assets/gone.js.map', false],
    ['a route of an application', 'GET', '/app/assets/42', false],
    ['another folder', 'GET', '/app/gone.js', false],
    ['another method', 'POST', '/app/assets/gone.js', false],
    ['a malformed path', 'GET', '/app/assets/%.js', false],
  ])('classifies %s', (_what, method, target, isMiss) => {
    expect(isSkewMiss(site, { method, target })).toBe(isMiss)
  })

  test('returns false for a build without a folder of hashed assets', () => {
    expect(isSkewMiss(fakeSite({}), { method: 'GET', target: '/assets/gone.js' })).toBe(false)
  })
})

describe('buildOfReferer', () => {
  test.each<readonly [string, string | undefined]>([
    ['https://example.org/app/assets/old.js', earlier],
    ['https://example.org/app/assets/new.js?v=1', current],
    ['https://example.org/app/', undefined],
    ['https://example.org/app/app.js', undefined],
    ['https://example.org/app/assets/gone.js', undefined],
    ['about:client', undefined],
  ])('returns the build of %s: %s', (referer, buildId) => {
    expect(buildOfReferer(site, referer)).toBe(buildId)
  })
})
