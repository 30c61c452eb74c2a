import { Transform } from 'node:stream'
import * as zlib from 'node:zlib'
import type { Zstd } from '@hpcc-js/wasm-zstd'
import { largestWindowLog, loadZstd } from './zstd-encoder.ts'

/**
 * Creates a zstd decoder for one frame. Returns `undefined` if Node has no zstd, and the optional package is missing or the
 * content is larger than 64 MiB.
 *
 * @param size - expected size of the content in bytes. Of longer content, the decoder returns at least `size + 1` bytes, so
 * that the caller notices it.
 */
export async function openZstdDecoder(size: number): Promise<Transform | undefined> {
  const createNative: typeof zlib.createZstdDecompress | undefined = zlib.createZstdDecompress
  if (createNative !== undefined) {
    return createNative({ params: { [zlib.constants.ZSTD_d_windowLogMax]: largestWindowLog } })
  }
  const library = size > largestInWasm ? undefined : await loadZstd().catch(() => undefined)
  return library && decodeInWasm(library, size)
}

/** Limit in bytes, because the frame and its content are in memory at the same time. */
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
      // Request one more byte, to detect longer content.
      const content = library.decompressChunk(Buffer.concat(pieces), size + 1)
      // The library returns no bytes and no error if it cannot decode the frame.
      if (content.length === 0) done(new Error('the content is not a valid zstd frame'))
      else done(null, content)
    },
  })
}
