import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { passesHostChecks, matchesProxy } from './preview-guards.ts'

function request(fields: Record<string, string>): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { headers: fields })
}

describe('matchesProxy', () => {
  test.each([
    ['/api', '/api/users?x=1', true],
    ['/api', '/apiary', true],
    ['/api', '/', false],
    ['^/v[0-9]+/', '/v12/users', true],
    ['^/v[0-9]+/', '/vx/users', false],
  ])('%s claims %s: %s', (context, target, expected) => {
    expect(matchesProxy(target, { [context]: 'http://localhost:1' })).toBe(expected)
  })

  test('matches nothing without a proxy', () => {
    expect(matchesProxy('/api', undefined)).toBe(false)
  })
})

describe('passesHostChecks', () => {
  test.each([
    ['localhost', true],
    ['localhost:4173', true],
    ['app.localhost:4173', true],
    ['127.0.0.1:4173', true],
    ['[::1]:4173', true],
    ['allowed.example', true],
    ['a.b.example:80', true],
    ['b.example', true],
    ['notb.example', false],
    ['evil.example:4173', false],
    ['localhost.evil.example', false],
    ['', false],
  ])('checks the host %j: %s', (host, expected) => {
    const options = { allowedHosts: ['allowed.example', '.b.example'] }
    expect(passesHostChecks(request({ host }), options)).toBe(expected)
  })

  test('rejects requests with an Origin', () => {
    expect(
      passesHostChecks(request({ host: 'localhost', origin: 'http://a.example' }), { allowedHosts: true }),
    ).toBe(false)
  })

  test('accepts every host if all hosts are allowed', () => {
    expect(passesHostChecks(request({ host: 'evil.example' }), { allowedHosts: true })).toBe(true)
  })
})
