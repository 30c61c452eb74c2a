import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as zlib from 'node:zlib'
import type { Zstd } from '@hpcc-js/wasm-zstd'
import type { ContentCoding } from '@serve-dist/manifest'

/** Compresses a whole file at level 19 into a frame with a window of at most 8 MiB. */
export type ZstdEncoder = (bytes: Uint8Array) => Promise<Uint8Array>

/** Whether this process encodes zstd in WebAssembly, whose memory never shrinks. */
export const isWasm: boolean = zlib.zstdCompressSync === undefined

/** Name and version of the zstd encoder. The same name means the same bytes. */
export const zstdCodec: string = isWasm ? wasmCodec(wasmModule()) : `zstd/${String(process.versions['zstd'])}`

const level = 19

/** Base-2 logarithm of the largest window, 8 MiB (RFC 9659 §3). Browsers reject larger windows. */
export const largestWindowLog = 23

/** Returns the codings that this installation can encode. Warns if zstd is not available. */
export function availableCodings(
  codings: readonly ContentCoding[],
  warn: (message: string) => void,
  hasZstd: boolean = !isWasm || wasmModule() !== undefined,
): readonly ContentCoding[] {
  if (!codings.includes('zstd') || hasZstd) return codings
  warn(
    `cannot encode zstd: Node.js ${process.versions.node} does not support it, and the optional package @hpcc-js/wasm-zstd is not installed. Use Node.js 22.15 or newer, or install without --omit=optional.`,
  )
  return codings.filter((coding) => coding !== 'zstd')
}

function wasmModule(): string | undefined {
  try {
    return import.meta.resolve('@hpcc-js/wasm-zstd')
  } catch {
    return undefined
  }
}

/**
 * Returns the name of the WebAssembly codec, with a random version if the real one is unknown. Then no cached result
 * matches.
 */
export function wasmCodec(module: string | undefined): string {
  return `zstd/wasm-${module === undefined ? randomUUID() : versionOf(new URL('../package.json', module))}`
}

function versionOf(packageFile: URL): string {
  try {
    const [, version = randomUUID()] = /"version": *"([^"]+)"/.exec(readFileSync(packageFile, 'utf8')) ?? []
    return version
  } catch {
    return randomUUID()
  }
}

/** Encodes with `node:zlib`, which supports zstd since Node 22.15 and 23.8. */
export const encodeNatively: ZstdEncoder = async (bytes) =>
  zlib.zstdCompressSync(bytes, {
    params: {
      [zlib.constants.ZSTD_c_compressionLevel]: level,
      [zlib.constants.ZSTD_c_windowLog]: largestWindowLog,
    },
    // With a known size, tables and window shrink to the file, and the frame states both.
    pledgedSrcSize: bytes.length,
  })

let loading: Promise<Zstd> | undefined

/** Loads the WebAssembly codec on the first call. Node 20 needs it on every platform. */
export async function loadZstd(): Promise<Zstd> {
  loading ??= import('@hpcc-js/wasm-zstd').then(async ({ Zstd: library }) => await library.load())
  return await loading
}

export const encodeInWasm: ZstdEncoder = async (bytes) => {
  const library = await loadZstd()
  const frame = bytes.length > streamedAbove ? compressPieces(library, bytes) : library.compress(bytes, level)
  // The package reports errors, such as a lack of memory, on the console only.
  if (frame.length === 0 || frame.length > largestFrame(bytes.length)) {
    throw new RangeError('zstd in WebAssembly ran out of memory. Use Node.js 22.15 or newer.')
  }
  return frame
}

/** Larger files are streamed: a stream needs 107 MiB for any size, a single call needs 274 MiB for 20 MB. */
const streamedAbove = 2 ** largestWindowLog

const pieceLength = 256 * 1024

function compressPieces(library: Zstd, bytes: Uint8Array): Uint8Array {
  library.reset()
  library.setCompressionLevel(level)
  const pieces: Uint8Array[] = []
  for (let start = 0; start < bytes.length; start += pieceLength) {
    pieces.push(library.compressChunk(bytes.subarray(start, start + pieceLength)))
  }
  return Buffer.concat([...pieces, library.compressEnd()])
}

/** Returns `ZSTD_compressBound` of zstd.h, for any size. */
function largestFrame(size: number): number {
  return size + Math.ceil(size / 256) + 64
}
