/** A content coding (RFC 9110 §8.4.1) that a build can hold variants in. */
export type ContentCoding = 'zstd' | 'br' | 'gzip'

/** A content coding that needs a dictionary of the client (RFC 9842 §4, §5). */
export type DeltaCoding = 'dcb' | 'dcz'

/** What there is to know of one content coding. */
export interface ContentCodingEntry {
  /** The token of `Accept-Encoding` and `Content-Encoding`. */
  readonly name: ContentCoding
  /** What the name of a variant's file ends in, with its dot. */
  readonly extension: string
}

/**
 * The one table of content codings, most preferred first: zstd decodes fastest, brotli is smallest,
 * gzip is understood by everybody.
 */
export const contentCodings: readonly [ContentCodingEntry, ...ContentCodingEntry[]] = [
  { name: 'zstd', extension: '.zst' },
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
]
