import type { IncomingMessage } from 'node:http'
import { BlockList, isIP, type Socket } from 'node:net'
import { forwardedAddresses, toPlainAddress } from '../protocol/forwarded-addresses.ts'

/** Named address ranges (RFC 5735, RFC 4291, RFC 4193). */
const namedRanges: ReadonlyMap<string, readonly string[]> = new Map([
  ['loopback', ['127.0.0.0/8', '::1/128']],
  ['linklocal', ['169.254.0.0/16', 'fe80::/10']],
  ['uniquelocal', ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7']],
])

/**
 * Returns whether to trust a proxy, by its address and the number of proxies between it and this server.
 */
export type ProxyTrust = (address: string, hops: number) => boolean

/**
 * Parses the proxies to trust.
 *
 * @param value - a number of proxies, or a list of addresses, ranges (CIDR) and the names `loopback`,
 *   `linklocal`, `uniquelocal`.
 * @throws TypeError that names the invalid part.
 */
export function parseProxyTrust(value: string | number): ProxyTrust {
  const text = String(value).trim()
  if (/^\d+$/.test(text)) {
    const most = Number(text)
    return (_address, hops) => hops < most
  }
  const trusted = new BlockList()
  for (const member of text.split(',')) {
    for (const range of namedRanges.get(member.trim()) ?? [member.trim()]) addRange(trusted, range)
  }
  return (addressInZone) => {
    const address = addressInZone.replace(/%.*$/, '')
    const version = isIP(address)
    return version !== 0 && trusted.check(address, version === 6 ? 'ipv6' : 'ipv4')
  }
}

/** Returns the client's address of a request. */
export type AddressReader = (
  request: Pick<IncomingMessage, 'rawHeaders'> & { readonly socket: Peer },
) => string

type Peer = Partial<Pick<Socket, 'remoteAddress'>>

/**
 * Creates a function that returns the client's address. It starts with the peer of the connection and
 * follows the forwarded addresses. The first address that is not a trusted proxy is the client.
 */
export function createAddressReader(trust: ProxyTrust | undefined): AddressReader {
  if (trust === undefined) return ({ socket }) => addressOfPeer(socket)
  return (request) => {
    let address = addressOfPeer(request.socket)
    const noted = forwardedAddresses(request.rawHeaders)
    for (let hops = 0; trustsPeer(trust, address, hops); hops += 1) {
      const next = noted.pop()
      // The list ends, or a proxy hides the address.
      if (next === undefined) break
      address = next
    }
    return address
  }
}

/** The peer of a unix socket has no address; the permissions of the socket's file control its access. */
export function trustsPeer(trust: ProxyTrust, address: string, hops: number): boolean {
  return (address === '' && hops === 0) || trust(address, hops)
}

/** Returns the address of the connection's peer; `''` over a unix socket. */
export function addressOfPeer({ remoteAddress }: Peer): string {
  return toPlainAddress(remoteAddress ?? '')
}

function addRange(trusted: BlockList, range: string): void {
  const [address = '', prefix, ...more] = range.split('/')
  const version = isIP(address)
  const bits = version === 6 ? 128 : 32
  const length = prefix === undefined ? bits : Number(prefix)
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && length <= bits)
  if (version === 0 || !isPrefix || more.length > 0) {
    throw new TypeError(
      `expected a number of proxies, or addresses, ranges such as 10.0.0.0/8 and the names ${[...namedRanges.keys()].join(', ')}, separated by commas, found ${JSON.stringify(range)}`,
    )
  }
  trusted.addSubnet(address, length, version === 6 ? 'ipv6' : 'ipv4')
}
