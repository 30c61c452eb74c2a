/**
 * The status that Node answers to what its parser refuses, or to a request that does not come to its end;
 * `undefined` for errors of the connection, to which there is no answer.
 */
export function statusOfParseError(
  error: Error & { readonly code?: unknown },
): 400 | 408 | 413 | 431 | undefined {
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return 431
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return 413
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return 408
    default:
      return typeof error.code === 'string' && error.code.startsWith('HPE_') ? 400 : undefined
  }
}
