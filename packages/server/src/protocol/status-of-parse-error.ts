/** The code of the failure that a request for a tunnel is. */
export const tunnelRefused = 'ERR_TUNNEL_REFUSED'

/**
 * The status of the answer to what Node's parser refuses, to a request that does not come to its end, or to CONNECT;
 * `undefined` for errors of the connection, to which there is no answer.
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
