import { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import type { Zstd } from '@hpcc-js/wasm-zstd'
import { largestWindowLog, loadZstd } from './zstd-encoder.ts'

/**
 * Decodes one frame; `undefined` where nothing of this installation can (Node 20 without the optional package).
 *
 * @param size - of what comes out, in bytes; more need not.
 */
export async function openZstdDecoder(size: number): Promise<Transform | undefined> {
  const createNative: typeof zlib.createZstdDecompress | undefined = zlib.createZstdDecompress
  if (createNative !== undefined) {
    return createNative({ params: { [zlib.constants.ZSTD_d_windowLogMax]: largestWindowLog } })
  }
  const library = size > largestInWasm ? undefined : await loadZstd().catch(() => undefined)
  return library && decodeInWasm(library, size)
}

/** Frame and content lie in memory together. */
const largestInWasm = 64 * 1024 * 1024

function decodeInWasm(library: Zstd, size: number): Transform {
  const pieces: Buffer[] = []
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      pieces.push(piece)
      done()
    },
    flush(done) {
      library.reset()
      // One more than it should be, to tell what is longer.
      const content = library.decompressChunk(Buffer.concat(pieces), size + 1)
      // Of what it cannot decode the library makes nothing, without an error.
      if (content.length === 0 && size > 0) done(new Error('this is no zstd frame'))
      else done(null, content)
    },
  })
}

/**
 * Whether browsers take a frame that begins so: they refuse a window above 8 MiB (RFC 9659 §3). libzstd does not look at
 * it where all fits into one step.
 */
export function isForBrowsers(head: Buffer): boolean {
  return windowOf(head) <= 2 ** largestWindowLog
}

/** In bytes: no header of a frame is longer. */
export const longestHeader = 18

/** RFC 8878 §3.1.1.1: what a decoder must keep of a frame; endless where it is no frame. */
function windowOf(frame: Buffer): number {
  if (frame.length < 6 || frame.readUInt32LE(0) !== 0xfd2fb528) return Infinity
  const descriptor = frame.readUInt8(4)
  const isSingleSegment = (descriptor & 0x20) !== 0
  if (!isSingleSegment) {
    const window = frame.readUInt8(5)
    return 2 ** (10 + (window >> 3)) * (1 + (window & 7) / 8)
  }
  const sizeLength = [1, 2, 4, 8][descriptor >> 6] ?? 8
  const start = 5 + ([0, 1, 2, 4][descriptor & 3] ?? 0)
  if (frame.length < start + sizeLength) return Infinity
  return sizeLength === 8 ? Number(frame.readBigUInt64LE(start)) : frame.readUIntLE(start, sizeLength)
}
