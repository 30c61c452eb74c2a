import type { IncomingMessage } from 'node:http'
import { findField, readHost, splitTarget } from '../protocol/request-head.ts'

const slash = 0x2f

/**
 * Normalizes a request for all handlers: its target is in origin form, or `*` for OPTIONS, and `Host` is
 * the requested host. An absolute form takes precedence over the field (RFC 9112 §3.2.2).
 *
 * @returns false if the request is malformed.
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

/** Updates all three properties. Node may have created `headers` already. */
function setHost({ rawHeaders, headers, headersDistinct }: IncomingMessage, host: string): void {
  const at = findField(rawHeaders, 'host')
  if (at === -1) rawHeaders.push('Host', host)
  else rawHeaders[at] = host
  headers.host = host
  headersDistinct['host'] = [host]
}
