import type { Transform } from 'node:stream'
import zlib, { constants } from 'node:zlib'
import { type ContentCoding, contentCodings, isCompressible } from '@serve-dist/manifest'
import { codingWeights } from '../protocol/accept-encoding.ts'

/** An application's answer when its head is written. */
export interface LiveAnswer {
  readonly status: number
  readonly acceptEncoding: string | undefined
  readonly mediaType: string | undefined
  /** In bytes, if known. */
  readonly contentLength: number | undefined
  readonly contentEncoding: string | undefined
  readonly contentRange: string | undefined
  readonly cacheControl: string | undefined
}

/** Whether an answer depends on `Accept-Encoding`, and the coding that it gets. */
export interface LiveDecision {
  readonly varies: boolean
  readonly coding: ContentCoding | undefined
}

/** Bytes: below it, the fields and the client's work outweigh the saving. */
const minimumSize = 1024

const untouched: LiveDecision = { varies: false, coding: undefined }

/** Decides how an application's answer is sent; one that is encoded already stays as it is. */
export function chooseLiveCoding(answer: LiveAnswer, available: ReadonlySet<ContentCoding>): LiveDecision {
  const { status, contentLength } = answer
  const hasNoBody = status < 200 || status === 204 || status === 304
  // RFC 9110 §14.4: the range counts the bytes before encoding.
  const isPart = status === 206 || answer.contentRange !== undefined
  if (hasNoBody || isPart || answer.contentEncoding !== undefined) return untouched
  // RFC 9111 §5.2.2.6.
  if (/(?:^|[,\s])no-transform(?:$|[,\s])/i.test(answer.cacheControl ?? '')) return untouched
  if (answer.mediaType === undefined || !isCompressible(answer.mediaType)) return untouched
  const isSmall = contentLength !== undefined && contentLength < minimumSize
  return { varies: true, coding: isSmall ? undefined : mostWanted(answer.acceptEncoding, available) }
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
