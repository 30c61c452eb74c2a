import type { ContentCoding } from '@serve-dist/manifest'

/** Measured on scripts of 2 kB to 20 MB; see docs/decisions/007-encoding.md. */
const costPerByte: Readonly<Record<ContentCoding, number>> = { zstd: 15, br: 45, gzip: 1 }

const mebibyte = 1024 * 1024

/** Bytes of tables per byte of the window, the window at its largest, and what is taken for any file. */
const memoryModels: Readonly<
  Record<ContentCoding, { readonly perByte: number; readonly window: number; readonly base: number }>
> = {
  zstd:
    process.versions['zstd'] === undefined
      ? { perByte: 18, window: 8 * mebibyte, base: 14 * mebibyte }
      : { perByte: 11.5, window: 8 * mebibyte, base: mebibyte },
  br: { perByte: 10, window: 16 * mebibyte, base: 2 * mebibyte },
  gzip: { perByte: 0, window: 0, base: mebibyte },
}

/** What is encoded in less, about 15 ms, is handed to a thread together: a message costs as much as encoding 500 bytes. */
export const smallWork = 2_000_000

/** How much work a file is, to compare: gzip of one byte is 1. */
export function encodingCost(coding: ContentCoding, size: number): number {
  return costPerByte[coding] * size
}

/** The codecs may take so much for each byte that originals may: with the defaults, two of the largest windows. */
const codecShare = 5.25

/** Bytes that the codecs may reserve together. */
export function codecMemory(bytesInFlight: number): number {
  return bytesInFlight * codecShare
}

/** Bytes that the codec reserves beside the file. */
export function encodingMemory(coding: ContentCoding, size: number): number {
  const { perByte, window, base } = memoryModels[coding]
  return base + perByte * Math.min(size, window)
}
