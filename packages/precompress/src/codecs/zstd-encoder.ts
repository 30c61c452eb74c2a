import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import * as zlib from 'node:zlib'
import type { Zstd } from '@hpcc-js/wasm-zstd'
import type { ContentCoding } from '@serve-dist/manifest'

/** Compresses whole files at level 19 into frames whose window is at most 8 MiB. */
export type ZstdEncoder = (bytes: Uint8Array) => Promise<Uint8Array>

/** Whether the encoder of this process is the one in WebAssembly, whose memory grows and never shrinks. */
export const isWasm: boolean = zlib.zstdCompressSync === undefined

/** Which zstd encodes here: the same name promises the same bytes. */
export const zstdCodec: string = isWasm ? wasmCodec(wasmModule()) : `zstd/${String(process.versions['zstd'])}`

const level = 19

/** RFC 9659 §3: a `zstd` response must not need a window above 8 MiB; browsers refuse more. */
export const largestWindowLog = 23

/** The codings that this installation can encode; a build that lacks one is served all the same. */
export function availableCodings(
  codings: readonly ContentCoding[],
  warn: (message: string) => void,
  hasZstd: boolean = !isWasm || wasmModule() !== undefined,
): readonly ContentCoding[] {
  if (!codings.includes('zstd') || hasZstd) return codings
  warn(
    `zstd is left out: Node.js ${process.versions.node} has none, and the optional @hpcc-js/wasm-zstd is not installed; use Node.js 22.15 or newer, or install without --omit=optional`,
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

/** Any version of the package may encode otherwise; one that is not known is never believed to be the same. */
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

/** By `node:zlib`, which has zstd from Node 22.15 and 23.8 on. */
export const encodeNatively: ZstdEncoder = async (bytes) =>
  zlib.zstdCompressSync(bytes, {
    params: {
      [zlib.constants.ZSTD_c_compressionLevel]: level,
      [zlib.constants.ZSTD_c_windowLog]: largestWindowLog,
    },
    // With the size known, tables and window shrink to the file, and the frame states both.
    pledgedSrcSize: bytes.length,
  })

let loading: Promise<Zstd> | undefined

/** What Node 20 lacks, for every platform: loaded at the first file. */
export async function loadZstd(): Promise<Zstd> {
  loading ??= import('@hpcc-js/wasm-zstd').then(async ({ Zstd: library }) => await library.load())
  return await loading
}

export const encodeInWasm: ZstdEncoder = async (bytes) => {
  const library = await loadZstd()
  const frame = bytes.length > streamedAbove ? compressPieces(library, bytes) : library.compress(bytes, level)
  // The package notes an error, such as no memory, on the console only.
  if (frame.length === 0 || frame.length > largestFrame(bytes.length)) {
    throw new RangeError('zstd in WebAssembly has not enough memory for it; use Node.js 22.15 or newer')
  }
  return frame
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
