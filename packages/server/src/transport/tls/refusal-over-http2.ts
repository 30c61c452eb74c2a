import { METHODS } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { isInvalidHead } from '../../protocol/request-head.ts'

/** Those that Node's parser of HTTP/1.1 takes: `get`, which is none, would be `GET` to a fetch application. */
const knownMethods = new Set(METHODS)

/** As Node's parser of HTTP/1.1 takes it: an application would read other octets as Latin-1. */
const originForm = /^\/[\x21-\x7E]*$/

/**
 * The status that refuses a request which nghttp2 lets through: it names no host, a malformed one or two that differ,
 * or no path, which nghttp2 looks at for HTTP's schemes alone (RFC 9113 §8.3.1), another scheme or method than HTTP/1.1
 * could, or its fields are too long. Node enforces our SETTINGS for their length only once the client has acknowledged
 * them.
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

/** As RFC 9113 §6.5.2 counts. */
function sizeOf(rawFields: readonly string[]): number {
  return rawFields.reduce((size, text) => size + text.length, 16 * rawFields.length)
}
