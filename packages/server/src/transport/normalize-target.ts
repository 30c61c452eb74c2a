import type { IncomingMessage } from 'node:http'
import { findField, readHost, splitTarget } from '../protocol/request-head.ts'

const slash = 0x2f

/**
 * Brings a request into the one form that everybody behind the transport reads: a target in origin form, or `*` for
 * OPTIONS, and in `Host` whom it is for. An absolute form outranks what stands there (RFC 9112 §3.2.2).
 *
 * @returns whether it could be done; otherwise the request is malformed.
 */
export function normalizeTarget(request: IncomingMessage): boolean {
  const { url = '' } = request
  if (url.charCodeAt(0) === slash) return true
  if (url === '*') return request.method === 'OPTIONS'
  const target = splitTarget(url)
  if (target?.authority === undefined || readHost(target.authority) === undefined) return false
  request.url = target.path + target.query
  setHost(request, target.authority)
  return true
}

/** In all three places: by now Node may have made `headers`, and it looks for no field behind those that were sent. */
function setHost({ rawHeaders, headers, headersDistinct }: IncomingMessage, host: string): void {
  const at = findField(rawHeaders, 'host')
  if (at === -1) rawHeaders.push('Host', host)
  else rawHeaders[at] = host
  headers.host = host
  headersDistinct['host'] = [host]
}
