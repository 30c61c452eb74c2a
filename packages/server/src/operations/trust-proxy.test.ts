import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { createAddressReader, parseProxyTrust } from './trust-proxy.ts'

/** A request from a peer that forwards an address. */
function requestFrom(peer: string | undefined, forwardedFor?: string): IncomingMessage {
  const socket = new Socket()
  Object.defineProperty(socket, 'remoteAddress', { value: peer })
  const request = new IncomingMessage(socket)
  if (forwardedFor !== undefined) request.rawHeaders.push('X-Forwarded-For', forwardedFor)
  return request
}

describe('createAddressReader', () => {
  test('ignores forwarded addresses by default', () => {
    expect(createAddressReader(undefined)(requestFrom('::ffff:127.0.0.1', '192.0.2.1'))).toBe('127.0.0.1')
  })

  test.each([
    ['a trusted proxy', 'loopback', '127.0.0.1', '192.0.2.1', '192.0.2.1'],
    ['a proxy over IPv6', 'loopback', '::1', '2001:db8::1', '2001:db8::1'],
    ['a proxy with an IPv4-mapped IPv6 address', 'loopback', '::ffff:127.0.0.1', '192.0.2.1', '192.0.2.1'],
    ['an untrusted proxy', 'loopback', '10.0.0.1', '192.0.2.1', '10.0.0.1'],
    ['a client that forges an address', 'loopback', '127.0.0.1', '8.8.8.8, 192.0.2.1', '192.0.2.1'],
    ['two proxies', '10.0.0.0/8, loopback', '127.0.0.1', '192.0.2.1, 10.2.3.4', '192.0.2.1'],
    ['trusted proxies only', 'uniquelocal', '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
    ['a proxy that forwards no address', 'loopback', '127.0.0.1', undefined, '127.0.0.1'],
    ['a proxy that hides its client', 'loopback', '127.0.0.1', 'unknown', '127.0.0.1'],
    ['a link-local proxy in its zone', 'linklocal', 'fe80::1%eth0', '192.0.2.1', '192.0.2.1'],
    ['a single address', '192.0.2.8', '192.0.2.8', '192.0.2.1', '192.0.2.1'],
    ['an IPv6 range', 'fd00::/8', 'fd00::1', '192.0.2.1', '192.0.2.1'],
    ['one hop', 1, '198.51.100.1', '8.8.8.8, 192.0.2.1', '192.0.2.1'],
    ['two hops', '2', '198.51.100.1', '192.0.2.1, 203.0.113.1', '192.0.2.1'],
    ['no hop', 0, '198.51.100.1', '192.0.2.1', '198.51.100.1'],
    ['a unix socket', 'loopback', undefined, '192.0.2.1', '192.0.2.1'],
  ])('finds the client with %s', (_what, trust, peer, forwardedFor, expected) => {
    const addressOf = createAddressReader(parseProxyTrust(trust))
    expect(addressOf(requestFrom(peer, forwardedFor))).toBe(expected)
  })
})

describe('parseProxyTrust', () => {
  test.each([
    '',
    'local',
    '10.0.0.0/33',
    '10.0.0.0/8/8',
    '10.0.0.0/',
    '1.2.3',
    'fd00::/129',
    '-1',
    'loopback,',
  ])('rejects %j', (text) => {
    expect(() => parseProxyTrust(text)).toThrow(/expected a number of proxies, or addresses, ranges/)
  })
})
