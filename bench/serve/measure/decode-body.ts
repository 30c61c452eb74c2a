import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { decompress } from 'fzstd'

/**
 * Undoes a content coding.
 *
 * @throws for a coding that is none of ours, and for bytes that are not in it.
 */
export function decodeBody(body: Buffer, coding: string): Buffer {
  switch (coding) {
    case 'identity':
      return body
    case 'gzip':
      return gunzipSync(body)
    case 'br':
      return brotliDecompressSync(body)
    case 'zstd':
      return Buffer.from(decompress(body))
    default:
      throw new Error(`Content-Encoding: ${coding}`)
  }
}
