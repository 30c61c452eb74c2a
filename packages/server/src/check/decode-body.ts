import { createHash } from 'node:crypto'
import * as zlib from 'node:zlib'

/** What a body is without its coding: its digest, or why nobody knows. */
export type DecodedBody = { readonly sha256: string } | 'broken' | 'unknown'

type Decode = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array

/** More is no file of a build: what unfolds to it would only fill the memory. */
const mostBytes = 2 ** 30

const decoders: ReadonlyMap<string, Decode | undefined> = new Map<string, Decode | undefined>([
  ['gzip', zlib.gunzipSync],
  ['x-gzip', zlib.gunzipSync],
  ['deflate', zlib.inflateSync],
  ['br', zlib.brotliDecompressSync],
  // From Node 22.15 on.
  ['zstd', zlib.zstdDecompressSync],
])

/** Decodes a body; `unknown` is a coding that cannot be decoded here. */
export function decodeBody(coding: string, bytes: Uint8Array): DecodedBody {
  const decode = decoders.get(coding)
  if (decode === undefined) return 'unknown'
  try {
    const decoded = decode(bytes, { maxOutputLength: mostBytes })
    return { sha256: createHash('sha256').update(decoded).digest('hex') }
  } catch {
    // Whatever the decoder dislikes, a browser would too.
    return 'broken'
  }
}
