import { describe, expect, test } from 'vitest'
import { checkServingRules } from './check-serving-rules.ts'

describe('checkServingRules', () => {
  test('returns the rules', () => {
    const rules = {
      prefer: 'smallest',
      immutable: ['fonts/**'],
      headers: { '*.html': { 'Content-Security-Policy': "default-src 'self'", 'X-Powered-By': null } },
      redirects: [{ from: '/old/*', to: '/new/:splat', status: 301 }],
    }
    expect(checkServingRules(rules, 'serving')).toEqual(rules)
  })

  test.each([
    [{ cachecontrol: {} }, 'serving.cachecontrol: unknown rule. Did you mean "cacheControl"?'],
    [{ redirect: [] }, 'serving.redirect: unknown rule. Did you mean "redirects"?'],
    [{ fallback: '200' }, 'serving.fallback: expected one of "spa", "404", "none", found "200"'],
    [
      { headers: { '**': { ETag: 'x' } } },
      'serving.headers["**"].ETag: serve-dist sets the field ETag itself',
    ],
    [
      { redirects: [{ from: '/a', to: '/b', stauts: 301 }] },
      'serving.redirects[0].stauts: unknown key. Did you mean "status"?',
    ],
    [{ redirects: { from: '/a' } }, 'serving.redirects: expected a list, found {"from":"/a"}'],
    ['smallest', 'serving: expected an object, found "smallest"'],
  ])('describes the problem of %j', (rules, problem) => {
    expect(() => checkServingRules(rules, 'serving')).toThrow(
      expect.objectContaining({ code: 'SD_OPTION_INVALID', message: problem }),
    )
  })

  test('lists every problem', () => {
    expect(() => checkServingRules({ hedaers: {}, prefer: 1 }, '')).toThrow(
      /^prefer: expected [^\n]+\nhedaers: unknown rule. Did you mean "headers"\?$/,
    )
  })
})
