import { isIPv6 } from 'node:net'

/** How a host that is listened on stands in a URL: the unspecified addresses listen everywhere, but are no place to go to. */
export function reachableName(host: string): string {
  if (host === '*' || host === '0.0.0.0' || host === '::') return 'localhost'
  return isIPv6(host) ? `[${host}]` : host
}
