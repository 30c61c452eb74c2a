import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import type { ContentCoding } from '@serve-dist/manifest'
import { encodeInWasm, encodeNatively, isWasm, zstdCodec } from './zstd-encoder.ts'

/** Encodes a whole file in one coding. The result depends only on the bytes and the codec. */
export type Encode = (bytes: Uint8Array, coding: ContentCoding) => Promise<Uint8Array>

/** More bits save almost nothing and double the memory; see docs/decisions/007-encoding.md. */
const largestWindowBits = 23

/** Codec, version and settings of each coding. With the input, they determine the result. */
export const codecs: Readonly<Record<ContentCoding, string>> = {
  zstd: `${zstdCodec} level=19 window=23${isWasm ? ' streamed' : ''} ${process.arch}`,
  br: `brotli/${process.versions['brotli']} quality=11 window=fit${largestWindowBits} ${process.arch}`,
  gzip: `zlib/${process.versions['zlib']} level=9 memory=8 ${process.arch}`,
}

const encoders: Readonly<Record<ContentCoding, (bytes: Uint8Array) => Promise<Uint8Array> | Uint8Array>> = {
  zstd: isWasm ? encodeInWasm : encodeNatively,
  br: encodeBrotli,
  gzip: encodeGzip,
}

/** Encodes with brotli 11, gzip 9 or zstd 19. Blocks this thread. */
export const encode: Encode = async (bytes, coding) => await encoders[coding](bytes)

function encodeBrotli(bytes: Uint8Array): Uint8Array {
  return brotliCompressSync(bytes, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      [constants.BROTLI_PARAM_LGWIN]: windowBits(bytes.length),
    },
  })
}

/** Returns the smallest window that holds the whole file (RFC 7932 §9.1: minus 16 bytes), 10 to 23 bits. */
function windowBits(size: number): number {
  const needed = Math.ceil(Math.log2(size + 16))
  return Math.min(Math.max(needed, constants.BROTLI_MIN_WINDOW_BITS), largestWindowBits)
}

const operatingSystemOffset = 9
const unknownOperatingSystem = 255

/** `memLevel` stays 8, because 9 made Vite's own files 0.2 % larger. */
function encodeGzip(bytes: Uint8Array): Uint8Array {
  const encoded = gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION })
  // zlib writes its own system into the header (RFC 1952 §2.3.1), so equal builds would differ between systems.
  encoded[operatingSystemOffset] = unknownOperatingSystem
  return encoded
}
