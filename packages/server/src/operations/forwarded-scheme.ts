import type { IncomingMessage } from 'node:http'
import { firstField } from '../protocol/request-head.ts'
import { addressOfPeer, parseProxyTrust, trustsPeer } from './trust-proxy.ts'

/**
 * Creates a function that returns the scheme in `X-Forwarded-Proto`, if the peer is a trusted proxy. A list begins with the
 * scheme of the client.
 */
export function createSchemeReader(
  trustProxy: string | number,
): (request: IncomingMessage) => 'http:' | 'https:' | undefined {
  const trust = parseProxyTrust(trustProxy)
  return ({ rawHeaders, socket }) => {
    const [, scheme] = /^(https?)(?:\s*,|$)/i.exec(firstField(rawHeaders, 'x-forwarded-proto') ?? '') ?? []
    if (scheme === undefined || !trustsPeer(trust, addressOfPeer(socket), 0)) return undefined
    return scheme.toLowerCase() === 'https' ? 'https:' : 'http:'
  }
}
