import { splitTarget } from './request-head.ts'

/** Control characters and unpaired surrogates. */
const unfitCharacter = /[\p{Cc}\p{Cs}]/u
const octetBeyondAscii = /[\u0080-\u00FF]/g
/** Encoded slashes and backslashes are data within a segment, not separators. */
export const preservedEscape: RegExp = /(%2f|%5c)/i
// Characters that RFC 3986 §3.3 does not permit in a path.
const toBeEncoded = /[^\w.~!$&'()*+,;=:@/-]/gu

/** The path and the query of a request. */
export interface RequestPath {
  /** Percent-encoded by {@link encodePath}, in the form of the table's keys. */
  readonly path: string
  /** The query with its question mark, or `''`; raw octets beyond ASCII are escaped. */
  readonly query: string
}

/**
 * Parses a request target: decodes its path once, then encodes it in the form of the table's keys.
 *
 * `malformed` (400): an invalid escape, a control character such as an encoded NUL, a fragment, or a scheme
 * other than HTTP's. `unclean` (404): a dot segment, an empty segment or a backslash. Such paths are not
 * repaired.
 *
 * @param acceptsUnclean - whether to return such paths instead of `unclean`.
 */
export function parseRequestPath(
  target: string,
  acceptsUnclean = false,
): RequestPath | 'malformed' | 'unclean' {
  const { path, query } = splitTarget(target) ?? {}
  const pieces = path === undefined ? undefined : decodePieces(path)
  if (query === undefined || pieces === undefined || pieces.some((piece) => unfitCharacter.test(piece)))
    return 'malformed'
  if (!acceptsUnclean && !isClean(pieces.join('%'))) return 'unclean'
  return {
    path: pieces.map((piece, index) => (index % 2 === 0 ? encodePath(piece) : piece)).join(''),
    query: escapeOctets(query),
  }
}

/**
 * Percent-encodes all characters that RFC 3986 §3.3 does not permit in a path.
 *
 * @throws URIError if the path is not well-formed Unicode.
 */
export function encodePath(path: string): string {
  return path.replace(toBeEncoded, encodeURIComponent)
}

/** Returns alternating decoded text and preserved escapes, or `undefined` for an invalid escape. */
function decodePieces(rawPath: string): string[] | undefined {
  // Node passes raw octets beyond ASCII as Latin-1. Escaping them first decodes them as UTF-8.
  try {
    return escapeOctets(rawPath)
      .split(preservedEscape)
      .map((piece, index) => (index % 2 === 0 ? decodeURIComponent(piece) : piece.toUpperCase()))
  } catch {
    // Only a URIError is possible, and it is the client's error.
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
