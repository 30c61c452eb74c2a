import type { ContentCoding } from '@serve-dist/manifest'

/** Measured on scripts of 2 kB to 20 MB; see docs/decisions/007-encoding.md. */
const costPerByte: Readonly<Record<ContentCoding, number>> = { zstd: 15, br: 45, gzip: 1 }

const mebibyte = 1024 * 1024

/** No codec has a larger window. */
const largestWindow = 8 * mebibyte

interface MemoryModel {
  /** Taken for any file. */
  readonly base: number
  /** For each byte of a file that the window holds. */
  readonly perByte: number
  /** For a file that it does not hold. */
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

/** About 15 ms. Files with less work go to a thread in batches: a message costs as much as encoding 500 bytes. */
export const smallWork = 2_000_000

/** How much work a file is, to compare: gzip of one byte is 1. */
export function encodingCost(coding: ContentCoding, size: number): number {
  return costPerByte[coding] * size
}

/** Bytes that originals and codecs may take together: with the defaults, two files of the largest windows. */
export function memoryFor(bytesInFlight: number): number {
  return bytesInFlight * 4.5
}

/** Bytes that the codec reserves beside the file. */
export function encodingMemory(coding: ContentCoding, size: number): number {
  const { base, perByte, most } = memoryModels[coding]
  return size > largestWindow ? most : base + perByte * size
}
