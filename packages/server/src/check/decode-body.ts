import { buffer } from 'node:stream/consumers'
import * as zlib from 'node:zlib'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'

/** What a body is without its coding: its digest, or why nobody knows. */
export type DecodedBody = { readonly sha256: string } | 'broken' | 'unknown'

type Decode = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array

/** What should come out of a decoder, and the most that may. */
interface Expected {
  readonly size: number
  readonly mostBytes: number
}

const decoders: ReadonlyMap<string, Decode | undefined> = new Map<string, Decode | undefined>([
  ['gzip', zlib.gunzipSync],
  ['x-gzip', zlib.gunzipSync],
  ['deflate', zlib.inflateSync],
  ['br', zlib.brotliDecompressSync],
  // From Node 22.15 on.
  ['zstd', zlib.zstdDecompressSync],
])

/**
 * Decodes a body; `unknown` is a coding that cannot be decoded here.
 *
 * @throws an error where more comes out than may: it would only fill the memory.
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
    // Whatever the decoder dislikes, a browser would too.
    return 'broken'
  }
}

/** What compresses for Node 20 can decode as well, where it is installed. */
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
