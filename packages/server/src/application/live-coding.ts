import type { Transform } from 'node:stream'
import zlib, { constants } from 'node:zlib'
import { type ContentCoding, contentCodings, isCompressible } from '@serve-dist/manifest'
import { codingWeights } from '../protocol/accept-encoding.ts'
import { matchesStrongly } from '../protocol/entity-tag.ts'

/** An application's answer when its head is written. */
export interface LiveAnswer {
  readonly status: number
  readonly acceptEncoding: string | undefined
  readonly mediaType: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly entityTag: string | undefined
  /** In bytes, if known. */
  readonly contentLength: number | undefined
  readonly contentEncoding: string | undefined
  readonly contentRange: string | undefined
  readonly cacheControl: string | undefined
}

/** Whether an answer depends on `Accept-Encoding`, and the coding that it gets. */
export interface LiveDecision {
  readonly varies: boolean
  /** Whether its entity tag is weak: that of an answer whose bytes may differ each time (RFC 9110 §8.8.1). */
  readonly isWeak: boolean
  readonly coding: ContentCoding | undefined
}

/** Bytes: below it, the fields and the client's work outweigh the saving. */
const minimumSize = 1024

const untouched: LiveDecision = { varies: false, isWeak: false, coding: undefined }

/** Decides how an application's answer is sent; one that is encoded already stays as it is. */
export function chooseLiveCoding(answer: LiveAnswer, available: ReadonlySet<ContentCoding>): LiveDecision {
  const { status, mediaType, contentRange, ifNoneMatch, entityTag } = answer
  const hasNoBody = status < 200 || status === 204
  if (hasNoBody || answer.contentEncoding !== undefined) return untouched
  if (contentRange !== undefined && status !== 206) return untouched
  // RFC 9111 §5.2.2.6.
  if (/(?:^|[,\s])no-transform(?:$|[,\s])/i.test(answer.cacheControl ?? '')) return untouched
  // A 304 seldom has the type of the answer that it stands for.
  if (mediaType === undefined ? status !== 304 : !isCompressible(mediaType)) return untouched
  const size = status === 206 ? wholeSizeOf(contentRange) : answer.contentLength
  const isSmall = size !== undefined && size < minimumSize
  const wanted = isSmall ? undefined : mostWanted(answer.acceptEncoding, available)
  if (status !== 206 && status !== 304) return { varies: true, isWeak: wanted !== undefined, coding: wanted }
  // RFC 9110 §15.3.7, §15.4.5: the validator that a 200 to this request would have, and `Vary`. A range counts the bytes
  // before encoding (§14.4). Who names the strong tag has the plain bytes.
  const hasPlain =
    ifNoneMatch !== undefined && entityTag !== undefined && matchesStrongly(ifNoneMatch, entityTag)
  return { varies: true, isWeak: wanted !== undefined && !(status === 304 && hasPlain), coding: undefined }
}

/** The bytes of what a range was taken from, if known. */
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

/** Encodes one answer while the application writes it. */
export interface LiveEncoder {
  readonly stream: Transform
  /** Sends everything that was written so far. */
  flush(): void
}

// The usual levels of web servers for dynamic answers: higher ones cost more time than they save.
const brotliQuality = 4
const gzipLevel = 6
const zstdLevel = 3

/** The codings that this Node can encode: zstd since 22.15. */
export const liveCodings: ReadonlySet<ContentCoding> = new Set(
  contentCodings.map(({ name }) => name).filter((name) => name !== 'zstd' || 'createZstdCompress' in zlib),
)

/** Starts an encoder of one of {@link liveCodings}. */
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
