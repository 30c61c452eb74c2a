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
      if (content.length === 0) done(new Error('this is no zstd frame'))
      else done(null, content)
    },
  })
}
