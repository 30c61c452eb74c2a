import { buffer } from 'node:stream/consumers'
import * as zlib from 'node:zlib'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'

/** The digest of a decoded body. `broken`: it cannot be decoded. `unknown`: there is no decoder. */
export type DecodedBody = { readonly sha256: string } | 'broken' | 'unknown'

type Decode = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array

interface Expected {
  readonly size: number
  readonly mostBytes: number
}

const decoders: ReadonlyMap<string, Decode | undefined> = new Map<string, Decode | undefined>([
  ['gzip', zlib.gunzipSync],
  ['x-gzip', zlib.gunzipSync],
  ['deflate', zlib.inflateSync],
  ['br', zlib.brotliDecompressSync],
  // Needs Node 22.15.
  ['zstd', zlib.zstdDecompressSync],
])

/**
 * Decodes a body and returns the SHA-256 of the decoded content.
 *
 * @throws an error if a native decoder exceeds the limit.
 */
export async function decodeBody(
  coding: string,
  bytes: Uint8Array,
  { size, mostBytes }: Expected,
): Promise<DecodedBody> {
  const decode = decoders.get(coding)
  try {
    if (decode !== undefined) return digestOf(decode(bytes, { maxOutputLength: mostBytes }))
    return coding === 'zstd' ? await decodeZstdInWasm(bytes, size) : 'unknown'
  } catch (error) {
    if (error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE')
      throw new Error(`more than ${formatBytes(mostBytes)} when decoded`, { cause: error })
    // A browser could not decode this body either.
    return 'broken'
  }
}

/** Decodes with the optional WebAssembly package that also compresses on Node 20. */
async function decodeZstdInWasm(bytes: Uint8Array, size: number): Promise<DecodedBody> {
  const library = await import('@serve-dist/precompress').catch(() => undefined)
  const decoder = await library?.openZstdDecoder(size)
  if (decoder === undefined) return 'unknown'
  decoder.end(bytes)
  return digestOf(await buffer(decoder))
}

function digestOf(bytes: Uint8Array): DecodedBody {
  return { sha256: sha256Of(bytes) }
}
