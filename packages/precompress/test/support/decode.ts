import { createRequire } from 'node:module'
import type BrotliWasm from 'brotli-wasm'
import { decompress } from '@mongodb-js/zstd'
import { gunzipSync } from 'fflate'
import type { ContentCoding } from '@serve-dist/manifest'

// The ES module of the package is for browsers and uses fetch.
const brotliWasm: typeof BrotliWasm = createRequire(import.meta.url)('brotli-wasm')

/** Decodes with libraries that share no code with the encoders. */
export async function decode(bytes: Uint8Array, coding: ContentCoding): Promise<Buffer> {
  switch (coding) {
    case 'br':
      return Buffer.from((await brotliWasm).decompress(bytes))
    case 'gzip':
      return Buffer.from(gunzipSync(bytes))
    case 'zstd':
      return await decompress(Buffer.from(bytes))
    default:
      throw new TypeError(`no decoder for ${String(coding)}`)
  }
}
