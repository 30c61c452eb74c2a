import type { ContentCoding } from '@serve-dist/manifest'

/** Measured on scripts of 2 kB to 20 MB; see docs/decisions/007-encoding.md. */
const costPerByte: Readonly<Record<ContentCoding, number>> = { zstd: 15, br: 45, gzip: 1 }

const mebibyte = 1024 * 1024

/** The largest window of all codecs, in bytes. */
const largestWindow = 8 * mebibyte

interface MemoryModel {
  /** Bytes for any file. */
  readonly base: number
  /** Bytes for each byte of a file that fits into the window. */
  readonly perByte: number
  /** Bytes for a larger file. */
  readonly most: number
}

const memoryModels: Readonly<Record<ContentCoding, MemoryModel>> = {
  zstd:
    process.versions['zstd'] === undefined
      ? { base: 14 * mebibyte, perByte: 19, most: 110 * mebibyte }
      : { base: mebibyte, perByte: 11.5, most: 94 * mebibyte },
  br: { base: 2 * mebibyte, perByte: 12, most: 112 * mebibyte },
  gzip: { base: mebibyte, perByte: 0, most: 8 * mebibyte },
}

/**
 * About 15 ms of work. Files with less work are sent to threads in batches, because a message costs as much as encoding
 * 500 bytes.
 */
export const smallWork = 2_000_000

/** Returns the work of encoding a file, relative to one byte of gzip. */
export function encodingCost(coding: ContentCoding, size: number): number {
  return costPerByte[coding] * size
}

/** Returns the memory limit for originals and codecs in bytes. The default allows two files with the largest window. */
export function memoryFor(bytesInFlight: number): number {
  return bytesInFlight * 4.5
}

/** Returns the bytes that a codec reserves in addition to the file. */
export function encodingMemory(coding: ContentCoding, size: number): number {
  const { base, perByte, most } = memoryModels[coding]
  return size > largestWindow ? most : base + perByte * size
}
