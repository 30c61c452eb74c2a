/** A content coding (RFC 9110 §8.4.1) of variants. */
export type ContentCoding = 'zstd' | 'br' | 'gzip'

/** A content coding that uses a dictionary of the client (RFC 9842 §4, §5). */
export type DeltaCoding = 'dcb' | 'dcz'

/** The description of a content coding. */
export interface ContentCodingEntry {
  /** The token in `Accept-Encoding` and `Content-Encoding`. */
  readonly name: ContentCoding
  /** The extension of a variant's file name, with its dot. */
  readonly extension: string
}

/**
 * All content codings, most preferred first: zstd decodes fastest, brotli is smallest, and every client supports gzip.
 */
export const contentCodings: readonly [ContentCodingEntry, ...ContentCodingEntry[]] = [
  { name: 'zstd', extension: '.zst' },
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
]
