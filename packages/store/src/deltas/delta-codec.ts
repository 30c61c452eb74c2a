import { createHash } from 'node:crypto'
import zlib from 'node:zlib'
import { sha256Of } from '@serve-dist/foundation/text/sha256-of'
import { type DeltaCoding, deltaHeader } from '@serve-dist/manifest'

/** A new file and the earlier file that serves as its dictionary. */
export interface DeltaSource {
  readonly dictionary: Uint8Array
  readonly bytes: Uint8Array
}

interface Codec {
  /** Returns `undefined` if the file cannot be a dictionary. */
  encode(source: DeltaSource): Uint8Array | undefined
  decode(encoded: Uint8Array, dictionary: Uint8Array, size: number): Uint8Array
}

const codecs: Readonly<Record<DeltaCoding, Codec>> = {
  dcz: {
    encode({ dictionary, bytes }) {
      if (startsWith(dictionary, zstdDictionaryMagic)) return undefined
      // RFC 9842 §5: a decoder may refuse a window above the larger of 8 MiB and 1.25 times the dictionary.
      const largest = Math.floor(Math.log2(Math.max(8 * 1024 * 1024, dictionary.length * 1.25)))
      return zlib.zstdCompressSync(bytes, {
        dictionary,
        params: {
          [zlib.constants.ZSTD_c_compressionLevel]: 19,
          [zlib.constants.ZSTD_c_windowLog]: Math.min(windowLog({ dictionary, bytes }), largest),
        },
      })
    },
    decode: (encoded, dictionary, size) =>
      zlib.zstdDecompressSync(encoded, { dictionary, maxOutputLength: size }),
  },
  dcb: {
    encode({ dictionary, bytes }) {
      const options = {
        dictionary,
        params: {
          [zlib.constants.BROTLI_PARAM_QUALITY]: 11,
          [zlib.constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
          [zlib.constants.BROTLI_PARAM_LGWIN]: Math.min(windowLog({ dictionary, bytes }), 24),
        },
      }
      return zlib.brotliCompressSync(bytes, options)
    },
    decode(encoded, dictionary, size) {
      const options = { dictionary, maxOutputLength: size }
      return zlib.brotliDecompressSync(encoded, options)
    },
  },
}

/**
 * The magic number of a formatted dictionary (RFC 8878 §6). libzstd would parse a file that starts with it; a browser
 * uses it as raw content.
 */
const zstdDictionaryMagic = Buffer.from('37a430ec', 'hex')

/** All delta codings, in the order in which they are encoded. */
export const deltaCodings: readonly DeltaCoding[] = ['dcz', 'dcb']

/** Returns the window that covers both files. Both codecs need at least 10. */
function windowLog({ dictionary, bytes }: DeltaSource): number {
  return Math.max(10, Math.ceil(Math.log2(dictionary.length + bytes.length)))
}

let available: readonly DeltaCoding[] | undefined

/**
 * Returns the delta codings that this Node.js can encode. Tests each one, because older versions ignore dictionaries
 * without an error (docs/decisions/029-deltas.md lists the versions).
 */
export function availableDeltaCodings(): readonly DeltaCoding[] {
  available ??= deltaCodings.filter(worksWithDictionaries)
  return available
}

/** Encodes incompressible data with itself as the dictionary. The result is tiny if dictionaries work. */
function worksWithDictionaries(coding: DeltaCoding): boolean {
  const blocks = Array.from({ length: 128 }, (_, index) => createHash('sha256').update(`${index}`).digest())
  const bytes = Buffer.concat(blocks)
  try {
    const delta = encodeDelta(coding, { dictionary: bytes, bytes })
    return delta !== undefined && delta.length < deltaHeader(coding, sha256Of(bytes)).length + 64
  } catch {
    // This Node.js lacks the function, or its library lacks dictionaries.
    return false
  }
}

/**
 * Encodes a delta, including its header, and decodes it again as a check.
 *
 * @returns `undefined` if the earlier file cannot be a dictionary.
 * @throws Error if the decoded bytes differ.
 */
export function encodeDelta(coding: DeltaCoding, source: DeltaSource): Uint8Array | undefined {
  const codec = codecs[coding]
  const { dictionary, bytes } = source
  const encoded = codec.encode(source)
  if (encoded === undefined) return undefined
  if (Buffer.compare(codec.decode(encoded, dictionary, bytes.length), bytes) !== 0) {
    throw new Error(`the ${coding} delta does not decode to the file`)
  }
  return Buffer.concat([deltaHeader(coding, sha256Of(dictionary)), encoded])
}

function startsWith(bytes: Uint8Array, beginning: Uint8Array): boolean {
  return Buffer.compare(bytes.subarray(0, beginning.length), beginning) === 0
}
