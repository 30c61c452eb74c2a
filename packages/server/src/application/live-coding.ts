import type { Transform } from 'node:stream'
import zlib, { constants } from 'node:zlib'
import { type ContentCoding, contentCodings, isCompressible } from '@serve-dist/manifest'
import { codingWeights } from '../protocol/accept-encoding.ts'
import { matchesStrongly } from '../protocol/entity-tag.ts'

/** The response of an application when its head is written. */
export interface LiveAnswer {
  readonly status: number
  readonly acceptEncoding: string | undefined
  readonly mediaType: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly entityTag: string | undefined
  /** The length in bytes, if it is known. */
  readonly contentLength: number | undefined
  readonly contentEncoding: string | undefined
  readonly contentRange: string | undefined
  readonly cacheControl: string | undefined
}

/** Whether a response depends on `Accept-Encoding`, and its coding. */
export interface LiveDecision {
  readonly varies: boolean
  /** Whether to weaken its entity tag, because encoded bytes may differ each time (RFC 9110 §8.8.1). */
  readonly isWeak: boolean
  readonly coding: ContentCoding | undefined
}

/** The minimum size in bytes. For smaller bodies, headers and decoding cost more than compression saves. */
const minimumSize = 1024

const untouched: LiveDecision = { varies: false, isWeak: false, coding: undefined }

/** Chooses the coding of an application's response. An encoded response stays unchanged. */
export function chooseLiveCoding(answer: LiveAnswer, available: ReadonlySet<ContentCoding>): LiveDecision {
  const { status, mediaType, contentRange, ifNoneMatch, entityTag } = answer
  const hasNoBody = status < 200 || status === 204
  if (hasNoBody || answer.contentEncoding !== undefined) return untouched
  if (contentRange !== undefined && status !== 206) return untouched
  // RFC 9111 §5.2.2.6.
  if (/(?:^|[,\s])no-transform(?:$|[,\s])/i.test(answer.cacheControl ?? '')) return untouched
  // A 304 usually has no type.
  if (mediaType === undefined ? status !== 304 : !isCompressible(mediaType)) return untouched
  const size = status === 206 ? wholeSizeOf(contentRange) : answer.contentLength
  const isSmall = size !== undefined && size < minimumSize
  const wanted = isSmall ? undefined : mostWanted(answer.acceptEncoding, available)
  if (status !== 206 && status !== 304) return { varies: true, isWeak: wanted !== undefined, coding: wanted }
  // RFC 9110 §15.3.7, §15.4.5: these responses have the validator and the `Vary` of a 200. A range counts the bytes before
  // encoding (§14.4). A client that sends the strong tag has the unencoded bytes.
  const hasPlain =
    ifNoneMatch !== undefined && entityTag !== undefined && matchesStrongly(ifNoneMatch, entityTag)
  return { varies: true, isWeak: wanted !== undefined && !(status === 304 && hasPlain), coding: undefined }
}

/** Returns the size of the complete body of a range, if it is known. */
function wholeSizeOf(contentRange = ''): number | undefined {
  const [, size] = /\/(\d+)$/.exec(contentRange) ?? []
  return size === undefined ? undefined : Number(size)
}

function mostWanted(
  acceptEncoding: string | undefined,
  available: ReadonlySet<ContentCoding>,
): ContentCoding | undefined {
  const weights = codingWeights(acceptEncoding)
  let chosen: ContentCoding | undefined
  let highest = 0
  for (const { name } of contentCodings) {
    if (weights[name] > highest && available.has(name)) {
      chosen = name
      highest = weights[name]
    }
  }
  return highest >= weights.identity ? chosen : undefined
}

/** An encoder for one response. */
export interface LiveEncoder {
  readonly stream: Transform
  flush(): void
}

// Common levels for dynamic responses. Higher levels cost more time than they save.
const brotliQuality = 4
const gzipLevel = 6
const zstdLevel = 3

/** The codings that this version of Node can encode. zstd needs 22.15. */
export const liveCodings: ReadonlySet<ContentCoding> = new Set(
  contentCodings.map(({ name }) => name).filter((name) => name !== 'zstd' || 'createZstdCompress' in zlib),
)

export function createLiveEncoder(coding: ContentCoding): LiveEncoder {
  switch (coding) {
    case 'zstd': {
      const params = { [constants.ZSTD_c_compressionLevel]: zstdLevel }
      const stream = zlib.createZstdCompress({ params })
      return { stream, flush: () => stream.flush(constants.ZSTD_e_flush) }
    }
    case 'br': {
      const params = { [constants.BROTLI_PARAM_QUALITY]: brotliQuality }
      const stream = zlib.createBrotliCompress({ params })
      return { stream, flush: () => stream.flush(constants.BROTLI_OPERATION_FLUSH) }
    }
    case 'gzip': {
      const stream = zlib.createGzip({ level: gzipLevel })
      return { stream, flush: () => stream.flush(constants.Z_SYNC_FLUSH) }
    }
    default:
      throw new TypeError(`unknown coding: ${String(coding satisfies never)}`)
  }
}
