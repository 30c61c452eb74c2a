import type { Http2ServerRequest } from 'node:http2'
import { mustBeRefused } from './must-be-refused.ts'

/**
 * Whether a request that nghttp2 lets through has to be answered with 400: it names no host, a malformed
 * one, or two that differ (RFC 9113 §8.3.1).
 */
export function mustBeRefusedOverHttp2({ headers, rawHeaders }: Http2ServerRequest): boolean {
  const authority = headers[':authority']
  const host = headers.host
  if (authority === undefined) return host === undefined || mustBeRefused(rawHeaders)
  if (authority === '' || mustBeRefused(['host', authority])) return true
  return host !== undefined && (host.toLowerCase() !== authority.toLowerCase() || mustBeRefused(rawHeaders))
}
