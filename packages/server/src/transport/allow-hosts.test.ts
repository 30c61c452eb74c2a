import { s } from '@serve-dist/manifest'
import { describe, expect, test } from 'vitest'
import { hostList, createHostMatcher } from './allow-hosts.ts'

describe('createHostMatcher', () => {
  const matches = createHostMatcher(['example.com', '*.apps.example', '127.0.0.1', '[::1]', 'LocalHost'])

  test.each([
    ['example.com', true],
    ['EXAMPLE.com:8080', true],
    ['example.com.', true],
    ['example.com.:443', true],
    ['example.com:', true],
    ['localhost', true],
    ['127.0.0.1:4173', true],
    ['[::1]:4173', true],
    ['a.apps.example', true],
    ['a.b.apps.example', true],
    ['apps.example', false],
    ['.apps.example', false],
    ['evilapps.example', false],
    ['www.example.com', false],
    ['example.com.evil.example', false],
    ['example.com@evil.example', false],
    ['evil.example', false],
    ['evil.example%2Fx.apps.example', false],
    ["'onload=x.apps.example", false],
    ['matches %s: %s', false],
    ['', false],
  ])('%s: %s', (host, expected) => {
    expect(matches(host)).toBe(expected)
  })
})

describe('hostList', () => {
  test.each([
    [['https://example.com'], 'without scheme, port and path, found "https://example.com"'],
    [['example.com:80'], ': expected a host name'],
    [['*'], 'expected a host name'],
    [[''], 'expected a host name'],
    [[], ': expected a list of hosts'],
    ['example.com', ': expected a list of hosts'],
  ])('refuses %j', (names, problem) => {
    expect(s.problemsOf(s.objectOf({ allowHosts: hostList }), { allowHosts: names })).toEqual([
      expect.stringContaining(problem),
    ])
  })
})
