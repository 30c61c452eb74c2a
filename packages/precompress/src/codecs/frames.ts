import { readSync } from 'node:fs'
import { largestWindowLog } from './zstd-encoder.ts'

/**
 * Returns whether a file is exactly one zstd frame that browsers accept.
 *
 * Such a frame has no dictionary and a window of at most 8 MiB (RFC 9659 §3). libzstd ignores the window if the content
 * fits into one step. Some decoders read only the first of several frames (RFC 8878 §3). This function does not verify
 * the content of blocks.
 */
export function isFrameForBrowsers(descriptor: number, size: number): boolean {
  const header = readAt(descriptor, 0, Math.min(size, longestHeader))
  if (header.length < shortestHeader || header.readUInt32LE(0) !== 0xfd2fb528) return false
  // RFC 8878 §3.1.1.1.1
  const flags = header.readUInt8(4)
  const isSingleSegment = (flags & 0x20) !== 0
  const wantsDictionary = (flags & 3) !== 0
  if (wantsDictionary || windowOf(header, isSingleSegment) > 2 ** largestWindowLog) return false
  const sizeLength = [isSingleSegment ? 1 : 0, 2, 4, 8][flags >> 6] ?? 0
  const digestLength = (flags & 4) === 0 ? 0 : 4
  return endOfBlocks(descriptor, 5 + (isSingleSegment ? 0 : 1) + sizeLength, size) + digestLength === size
}

/** Lengths in bytes. The shortest header has a magic number, flags and one more byte, the longest all optional fields. */
const [shortestHeader, longestHeader] = [6, 14]

/** Returns the window size that a decoder needs, in bytes (RFC 8878 §3.1.1.1.2). */
function windowOf(header: Buffer, isSingleSegment: boolean): number {
  const first = header.readUInt8(5)
  if (!isSingleSegment) return 2 ** (10 + (first >> 3)) * (1 + (first & 7) / 8)
  const sizeLength = [1, 2, 4, 8][header.readUInt8(4) >> 6] ?? 8
  if (header.length < 5 + sizeLength) return Infinity
  return sizeLength === 8 ? Number(header.readBigUInt64LE(5)) : header.readUIntLE(5, sizeLength)
}

/** Returns the position after the last block (RFC 8878 §3.1.1.2), `Infinity` if the file has no last block. */
function endOfBlocks(descriptor: number, start: number, size: number): number {
  for (let position = start; position + 3 <= size;) {
    const block = readAt(descriptor, position, 3).readUIntLE(0, 3)
    const isRepeated = ((block >> 1) & 3) === 1
    position += 3 + (isRepeated ? 1 : block >> 3)
    if ((block & 1) === 1) return position
  }
  return Infinity
}

/**
 * Returns the length of a gzip header (RFC 1952 §2.3). Rejects reserved flags, and a header CRC because some clients do
 * not support it.
 */
export function lengthOfGzipHeader(descriptor: number): number {
  const header = readAt(descriptor, 0, 4096)
  const flags = header.readUInt8(3)
  if (header.readUIntBE(0, 3) !== 0x1f8b08 || (flags & 0xe2) !== 0)
    throw new RangeError('this is not a supported gzip header')
  let length = 10
  if ((flags & 4) !== 0) length += 2 + header.readUInt16LE(length)
  for (const text of [8, 16]) {
    if ((flags & text) === 0) continue
    const end = header.indexOf(0, length)
    if (end === -1) throw new RangeError('the gzip header contains a text without an end')
    length = end + 1
  }
  return length
}

/** Reads bytes from a position. Returns fewer bytes at the end of the file. */
export function readAt(descriptor: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  return bytes.subarray(0, readSync(descriptor, bytes, 0, length, position))
}
