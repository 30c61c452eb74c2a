import { readFileSync } from 'node:fs'
import { checkServingRules, servingRuleNames } from '@serve-dist/manifest'
import { Ajv } from 'ajv'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'

const file = new URL('../../dist/serve-dist.config.schema.json', import.meta.url)
const isConfig = new Ajv().compile(JSON.parse(readFileSync(file, 'utf8')))

function isAccepted(config: unknown): boolean {
  try {
    checkServingRules(config, '')
    return true
  } catch {
    return false
  }
}

describe('the JSON schema of serve-dist.config.json', () => {
  test('accepts every rule', () => {
    const rules = {
      prefer: 'smallest',
      fallback: '404',
      immutable: ['vendor/*.js'],
      cacheControl: { 'data/**': 'public, max-age=60' },
      headers: { '**': { 'X-Frame-Options': 'DENY', 'X-Content-Type-Options': null } },
      redirects: [{ from: '/old/*', to: '/new/:splat', status: 301, force: true }],
      securityHeaders: true,
      csp: { reportOnly: false, 'connect-src': ["'self'", { env: 'API_URL' }], 'img-src': null },
      earlyHints: false,
      cors: ['fonts/**'],
      sourceMaps: 'deny',
      sharedCache: true,
      keptList: false,
      health: '/healthz',
      basicAuth: { env: 'SITE_PASSWORD', except: ['/.well-known/**'] },
    }
    expect(Object.keys(rules).toSorted()).toEqual(servingRuleNames().toSorted())
    expect(isAccepted(rules)).toBe(true)
    expect(isConfig({ $schema: 'x.json', ...rules })).toBe(true)
    expect(isConfig({ csp: true })).toBe(true)
  })

  test.each([
    [[]],
    [{ hedaers: {} }],
    [{ prefer: 'fastest' }],
    [{ immutable: '*.js' }],
    [{ headers: { '**': { 'X-A': 1 } } }],
    [{ redirects: [{ from: '/a' }] }],
    [{ redirects: [{ from: '/a', to: '/b', stauts: 301 }] }],
    [{ basicAuth: { env: 'A', realm: 'b' } }],
    [{ csp: { 'script-scr': [] } }],
    [{ csp: { 'img-src': [{ env: 'A', path: '/b' }] } }],
  ])('rejects %j, like the server', (config) => {
    expect(isConfig(config)).toBe(false)
    expect(isAccepted(config)).toBe(false)
  })

  test('accepts every configuration that the server accepts', () => {
    const value = fc.oneof(fc.jsonValue(), fc.constantFrom({}, [], true, ['*'], { '*': {} }, { '*': 'a' }))
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...servingRuleNames()), value), (config) => {
        expect(isConfig(config) || !isAccepted(config)).toBe(true)
      }),
    )
  })
})
