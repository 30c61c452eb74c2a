import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32, createBrotliDecompress, createInflateRaw } from 'node:zlib'
import type { ContentCoding } from '@serve-dist/manifest'
import { openZstdDecoder } from '../codecs/zstd-decoder.ts'
import { isFrameForBrowsers, lengthOfGzipHeader, readAt } from '../codecs/frames.ts'
import type { DescribedFile } from '../folder/describe-file.ts'
import type { Candidate } from './find-candidates.ts'

/**
 * Returns whether every browser decodes a sibling to its original.
 *
 * The sibling must be exactly one gzip member, brotli stream or zstd frame: Chromium decodes only the first gzip member,
 * and other clients reject extra bytes. Its content must have the original's digest. Returns `false` if no decoder is
 * available.
 */
export async function decodesToOriginal(folder: string, sibling: Candidate<DescribedFile>): Promise<boolean> {
  // No encoder adds more to incompressible content.
  if (sibling.file.size > sibling.original.size * 1.01 + 1024) return false
  let descriptor: number | undefined
  try {
    descriptor = openSync(join(folder, sibling.file.path), 'r')
    return await isDecodable(descriptor, sibling)
  } catch {
    // The file has another coding, or is truncated.
    return false
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

async function isDecodable(
  descriptor: number,
  { file, original, coding }: Candidate<DescribedFile>,
): Promise<boolean> {
  if (coding === 'zstd' && !isFrameForBrowsers(descriptor, file.size)) return false
  const [start, tail] = coding === 'gzip' ? [lengthOfGzipHeader(descriptor), gzipTail] : [0, 0]
  const decoder = await openDecoder(coding, original.size)
  if (decoder === undefined) return false
  const sha256 = createHash('sha256')
  let crc = 0
  let size = 0
  const source = piecesOf(descriptor, start, file.size - tail)
  await pipeline(source, decoder, async (pieces: AsyncIterable<Buffer>) => {
    for await (const piece of pieces) {
      size += piece.length
      // Stop: the content belongs to another file, and may be endless.
      if (size > original.size) return
      sha256.update(piece)
      if (coding === 'gzip') crc = crc32(piece, crc)
    }
  })
  if (size !== original.size || sha256.digest('hex') !== original.sha256) return false
  // `node:zlib` ignores bytes after the end of a stream.
  if ('bytesWritten' in decoder && decoder.bytesWritten !== file.size - start - tail) return false
  if (coding !== 'gzip') return true
  const end = readAt(descriptor, file.size - tail, tail)
  return end.readUInt32LE(0) === crc && end.readUInt32LE(4) === size % 2 ** 32
}

/** Reads a file in pieces. A stream of `node:fs` would close the descriptor when it is destroyed. */
function* piecesOf(descriptor: number, start: number, end: number): Generator<Buffer> {
  for (let position = start; position < end;) {
    const piece = readAt(descriptor, position, Math.min(end - position, pieceLength))
    if (piece.length === 0) return
    position += piece.length
    yield piece
  }
}

const pieceLength = 64 * 1024

/** Length of the CRC-32 and the content's length at the end (RFC 1952 §2.3.1). */
const gzipTail = 8

async function openDecoder(coding: ContentCoding, size: number): Promise<Transform | undefined> {
  if (coding === 'zstd') return await openZstdDecoder(size)
  // `createGunzip` would accept several members.
  return coding === 'br' ? createBrotliDecompress() : createInflateRaw()
}
