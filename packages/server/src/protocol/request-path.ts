import { splitTarget } from './request-head.ts'

/** Control characters, and surrogates without their other half. */
const unfitCharacter = /[\p{Cc}\p{Cs}]/u
const octetBeyondAscii = /[\u0080-\u00FF]/g
/** An encoded slash or backslash is data inside a segment, never a separator. */
export const preservedEscape: RegExp = /(%2f|%5c)/i
// RFC 3986 §3.3: what may stand in a path as it is.
const toBeEncoded = /[^\w.~!$&'()*+,;=:@/-]/gu

/** How a request names a resource: its path, taken apart from the query. */
export interface RequestPath {
  /** Percent-encoded as {@link encodePath} does it, so that it equals a key of the table. */
  readonly path: string
  /** With its question mark, as it was sent, raw octets beyond ASCII as escapes; `''` without one. */
  readonly query: string
}

/**
 * Reads a request target: its path is decoded once, then encoded in the one way that keys the table.
 *
 * `malformed` (400) is a broken escape, an encoded NUL or another control character, a fragment or another scheme than
 * HTTP's; `unclean` (404) is a dot segment, an empty segment or a backslash: these are not repaired.
 */
export function parseRequestPath(target: string): RequestPath | 'malformed' | 'unclean' {
  const { path, query } = splitTarget(target) ?? {}
  const pieces = path === undefined ? undefined : decodePieces(path)
  if (query === undefined || pieces === undefined || pieces.some((piece) => unfitCharacter.test(piece)))
    return 'malformed'
  if (!isClean(pieces.join('%'))) return 'unclean'
  return {
    path: pieces.map((piece, index) => (index % 2 === 0 ? encodePath(piece) : piece)).join(''),
    query: escapeOctets(query),
  }
}

/**
 * A path with everything percent-encoded that RFC 3986 §3.3 does not let stand.
 *
 * @throws URIError when the path is not well-formed Unicode.
 */
export function encodePath(path: string): string {
  return path.replace(toBeEncoded, encodeURIComponent)
}

/** Decoded text and kept escapes by turns, or `undefined` when an escape is broken. */
function decodePieces(rawPath: string): string[] | undefined {
  // Raw octets beyond ASCII reach us as Latin-1; as escapes they are read as the UTF-8 that they are.
  try {
    return escapeOctets(rawPath)
      .split(preservedEscape)
      .map((piece, index) => (index % 2 === 0 ? decodeURIComponent(piece) : piece.toUpperCase()))
  } catch {
    // The only error is URIError: the client's, so a value and no exception.
    return undefined
  }
}

function escapeOctets(text: string): string {
  return text.replace(octetBeyondAscii, (octet) => `%${octet.charCodeAt(0).toString(16).toUpperCase()}`)
}

function isClean(path: string): boolean {
  if (!path.startsWith('/') || path.includes('\\')) return false
  const segments = path.slice(1).split('/')
  return segments.every(
    (segment, index) =>
      segment !== '.' && segment !== '..' && (segment !== '' || index === segments.length - 1),
  )
}
