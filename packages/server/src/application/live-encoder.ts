import type { Transform } from 'node:stream'
import zlib, { constants } from 'node:zlib'
import { type ContentCoding, contentCodings } from '@serve-dist/manifest'

/** Encodes one answer while it is made. */
export interface LiveEncoder {
  readonly stream: Transform
  /** Lets everything out that was written so far. */
  flush(): void
}

// What web servers take for answers that are made anew each time: more costs more time than it saves.
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
      throw new TypeError(`no such coding: ${String(coding satisfies never)}`)
  }
}
