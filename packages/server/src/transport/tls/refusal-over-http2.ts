import { METHODS } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { isInvalidHead } from '../../protocol/request-head.ts'

/** The methods of Node's HTTP/1.1 parser. A fetch application would treat an unknown `get` as `GET`. */
const knownMethods = new Set(METHODS)

/** The paths of Node's HTTP/1.1 parser. An application would interpret other octets as Latin-1. */
const originForm = /^\/[\x21-\x7E]*$/

/**
 * Returns the status for rejecting a request that nghttp2 accepts:
 *
 * - The host is missing or malformed, or the request names two different hosts.
 * - The path is missing. nghttp2 checks this only for HTTP's schemes (RFC 9113 §8.3.1).
 * - HTTP/1.1 does not support the scheme or the method.
 * - The fields are too long. Node enforces our SETTINGS only after the client has acknowledged them.
 */
export function refusalOverHttp2(
  { headers, rawHeaders, method, scheme, url }: Http2ServerRequest,
  maxHeaderSize: number,
): 400 | 431 | undefined {
  if (sizeOf(rawHeaders) > maxHeaderSize) return 431
  if (!originForm.test(url) && !(url === '*' && method === 'OPTIONS')) return 400
  if (!knownMethods.has(method) || !/^https?$/i.test(scheme)) return 400
  const authority = headers[':authority']
  const host = headers.host
  if (authority === undefined) return host === undefined || isInvalidHead(rawHeaders) ? 400 : undefined
  if (isInvalidHead(['host', authority])) return 400
  if (host === undefined) return undefined
  const isOther = host.toLowerCase() !== authority.toLowerCase()
  return isOther || isInvalidHead(rawHeaders) ? 400 : undefined
}

/** Counts as in RFC 9113 §6.5.2. */
function sizeOf(rawFields: readonly string[]): number {
  return rawFields.reduce((size, text) => size + text.length, 16 * rawFields.length)
}
