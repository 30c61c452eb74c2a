import { describe, expect, test } from 'vitest'
import { completeProxyAddress, parseProxyAddress } from './proxy-address.ts'
import { proxyFieldProblem } from './proxy-options-schema.ts'
import { checkServingRules } from './check-serving-rules.ts'

test.each([
  ['http://backend:3000', { origin: 'http://backend:3000' }],
  ['HTTPS://Backend:443', { origin: 'https://backend' }],
  ['https://[::1]:8443/v1/:splat', { origin: 'https://[::1]:8443', path: '/v1/:splat' }],
  ['http://backend/', { origin: 'http://backend', path: '/' }],
  ['unix:/run/api.sock', { origin: 'http://localhost', socketPath: '/run/api.sock' }],
  ['unix:/run/api.sock:/v1', { origin: 'http://localhost', socketPath: '/run/api.sock', path: '/v1' }],
  ['backend:3000', undefined],
  ['http://', undefined],
  ['http://user:secret@backend', undefined],
  ['http://backend:70000', undefined],
  ['http://backend/x?y', undefined],
  ['http://backend/x#y', undefined],
  ['http://back end/', undefined],
  ['unix:api.sock', undefined],
  ['unix:/run/api.sock:v1', undefined],
  ['ftp://backend', undefined],
])('parses %s', (text, address) => {
  expect(parseProxyAddress(text)).toEqual(address)
})

test.each([
  ['http://backend', '/api/*', undefined, 'http://backend'],
  ['http://backend/', '/api/*', undefined, 'http://backend/:splat'],
  ['http://backend/v1', '/api/*', undefined, 'http://backend/v1/:splat'],
  ['http://backend/v1', '/api', undefined, 'http://backend/v1'],
  ['http://backend/v1/', '/api/*', '/api/:splat', 'http://backend/v1/api/:splat'],
  ['unix:/run/api.sock', '/api/*', undefined, 'unix:/run/api.sock'],
  ['unix:/run/api.sock', '/api/*', '/v1/:splat', 'unix:/run/api.sock:/v1/:splat'],
  ['unix:/run/api.sock:/v1', '/api/*', undefined, 'unix:/run/api.sock:/v1/:splat'],
])('completes %s for the rule %s with the path %s', (value, from, path, address) => {
  expect(completeProxyAddress(value, { from, path })).toBe(address)
})

describe('rules that proxy', () => {
  const rule = { from: '/api/*', to: 'http://backend', status: 200 }
  const problemsOf = (changes: object): string => {
    try {
      checkServingRules({ redirects: [{ ...rule, ...changes }] }, '')
      return ''
    } catch (error) {
      return String(error)
    }
  }

  test.each([
    [{}],
    [{ to: { env: 'API' } }],
    [{ to: { env: 'SITE', path: '/a?b=c' }, status: 301 }],
    [{ to: { env: 'API', path: '/v1/:splat' }, timeout: '5m', bodyLimit: '1gb', host: 'target' }],
    [{ timeout: 500, request: { 'X-A': { env: 'A' }, Cookie: null }, answer: { ETag: null } }],
  ])('accept %j', (changes) => {
    expect(problemsOf(changes)).toBe('')
  })

  test.each([
    [{ status: 301, timeout: '5m' }, 'redirects[0].timeout: only valid for a rule with status 200'],
    [{ to: '/page.html', host: 'keep' }, 'redirects[0].host: only valid'],
    [{ to: 'http://:splat' }, 'redirects[0].to'],
    [{ to: 'http://backend/:other' }, '":other" is not a variable'],
    [{ to: { env: 'API', path: 'v1' } }, 'redirects[0].to: expected a path'],
    [{ to: { env: 'API', path: '/v1?a' } }, 'redirects[0].to'],
    [{ to: { env: '' } }, 'redirects[0].to.env: expected the name of an environment variable'],
    [{ timeout: '5 minutes' }, 'redirects[0].timeout: expected a duration'],
    [{ timeout: 0 }, 'redirects[0].timeout'],
    [{ bodyLimit: Number.POSITIVE_INFINITY }, 'redirects[0].bodyLimit'],
    [{ host: 'other' }, 'redirects[0].host: expected one of "keep", "target"'],
    [{ request: { Host: 'x' } }, 'serve-dist sets the field Host itself. Use the option "host".'],
    [{ request: { Connection: 'close' } }, 'serve-dist sets the field Connection itself'],
    [{ answer: { 'X-A': 'a\nb' } }, 'the value of X-A must be visible ASCII'],
  ])('reject %j', (changes, problem) => {
    expect(problemsOf(changes)).toContain(problem)
  })
})

test('a field name is checked', () => {
  expect(proxyFieldProblem('a b', '')).toContain('is not the name of a field')
})
