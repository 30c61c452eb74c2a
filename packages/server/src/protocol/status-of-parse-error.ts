/** The error code for CONNECT, a request for a tunnel. */
export const tunnelRefused = 'ERR_TUNNEL_REFUSED'

/**
 * Returns the status for a parser error, an incomplete request, or CONNECT. Returns `undefined` for errors
 * of the connection, which get no answer.
 */
export function statusOfParseError(
  error: Error & { readonly code?: unknown },
): 400 | 405 | 408 | 413 | 431 | undefined {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return 431
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 413
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408
    case tunnelRefused:
      return 405
    default:
      return typeof error.code === 'string' && error.code.startsWith('HPE_') ? 400 : undefined
  }
}
