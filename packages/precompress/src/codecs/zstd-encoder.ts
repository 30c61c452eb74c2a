import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as zlib from 'node:zlib'
import type { Zstd } from '@hpcc-js/wasm-zstd'

/** Compresses whole files at level 19 into frames whose window is at most 8 MiB. */
export type ZstdEncoder = (bytes: Uint8Array) => Promise<Uint8Array>

/** Which zstd encodes here: the same name promises the same bytes. */
export const zstdCodec: string =
  process.versions['zstd'] === undefined ? wasmCodec(wasmModule()) : `zstd/${process.versions['zstd']}`

const level = 19

/** RFC 9659 §3: a `zstd` response must not need a window above 8 MiB; browsers refuse more. */
const largestWindowLog = 23

/** Whether zstd can be encoded here: by `node:zlib`, or by the package in WebAssembly, which is optional. */
export function hasZstdEncoder(): boolean {
  return !isWasm || wasmModule() !== undefined
}

function wasmModule(): string | undefined {
  try {
    return import.meta.resolve('@hpcc-js/wasm-zstd')
  } catch {
    return undefined
  }
}

/** Any version of the package may encode otherwise; one that is not known is never believed to be the same. */
export function wasmCodec(module: string | undefined): string {
  const version = module === undefined ? undefined : versionOf(new URL('../package.json', module))
  return `zstd/wasm-${version ?? randomUUID()}`
}

function versionOf(packageFile: URL): string | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(packageFile, 'utf8'))
    const version = found instanceof Object ? Reflect.get(found, 'version') : undefined
    return typeof version === 'string' ? version : undefined
  } catch {
    return undefined
  }
}

/** The encoder that this Node has, else the one in WebAssembly. */
export function findZstdEncoder(): ZstdEncoder {
  return nativeEncoder() ?? wasmEncoder()
}

/** `node:zlib` has zstd from Node 22.15 and 23.8 on. */
export function nativeEncoder(): ZstdEncoder | undefined {
  // Typed as always there, missing in Node 20.
  const zstdCompress: typeof zlib.zstdCompressSync | undefined = zlib.zstdCompressSync
  if (zstdCompress === undefined) return undefined
  return promiseOf((bytes) =>
    zstdCompress(bytes, {
      params: {
        [zlib.constants.ZSTD_c_compressionLevel]: level,
        [zlib.constants.ZSTD_c_windowLog]: largestWindowLog,
      },
      // With the size known, tables and window shrink to the file, and the frame states both.
      pledgedSrcSize: bytes.length,
    }),
  )
}

/** Whether the encoder of this process is the one in WebAssembly, whose memory grows and never shrinks. */
export const isWasm: boolean = zlib.zstdCompressSync === undefined

/** What Node 20 lacks, for every platform: loaded at the first file. */
export function wasmEncoder(): ZstdEncoder {
  let loading: Promise<Zstd> | undefined
  return async (bytes) => {
    loading ??= import('@hpcc-js/wasm-zstd').then(async ({ Zstd: library }) => await library.load())
    const library = await loading
    const frame =
      bytes.length > streamedAbove ? compressPieces(library, bytes) : library.compress(bytes, level)
    // The package notes an error, such as no memory, on the console only.
    if (frame.length === 0 || frame.length > largestFrame(bytes.length)) {
      throw new RangeError('zstd in WebAssembly has not enough memory for it; use Node.js 22.15 or newer')
    }
    return frame
  }
}

/** Where the window is at its largest, a stream takes 107 MiB, and no more for larger files; at once 20 MB took 274. */
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

/** `ZSTD_compressBound` of zstd.h, for any size. */
function largestFrame(size: number): number {
  return size + Math.ceil(size / 256) + 64
}

function promiseOf(compress: (bytes: Uint8Array) => Uint8Array): ZstdEncoder {
  return async (bytes) => compress(bytes)
}
