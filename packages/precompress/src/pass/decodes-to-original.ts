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
 * Whether every browser decodes a sibling to its original: it is one gzip member, one brotli stream or one zstd frame from
 * its first byte to its last (of several, Chromium takes the first gzip member alone; of bytes behind it, other clients
 * make an error), and its content has the original's digest. Not where nothing here can decode it.
 */
export async function decodesToOriginal(folder: string, sibling: Candidate<DescribedFile>): Promise<boolean> {
  // Whatever the encoder: what cannot be compressed grows by less.
  if (sibling.file.size > sibling.original.size * 1.01 + 1024) return false
  let descriptor: number | undefined
  try {
    descriptor = openSync(join(folder, sibling.file.path), 'r')
    return await isDecodable(descriptor, sibling)
  } catch {
    // Not in this coding, or cut short.
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
      // Longer than the original: it is another file, and may be endless.
      if (size > original.size) return
      sha256.update(piece)
      if (coding === 'gzip') crc = crc32(piece, crc)
    }
  })
  if (size !== original.size || sha256.digest('hex') !== original.sha256) return false
  // What follows the end of a stream is not taken by `node:zlib`, and is no error.
  if ('bytesWritten' in decoder && decoder.bytesWritten !== file.size - start - tail) return false
  if (coding !== 'gzip') return true
  const end = readAt(descriptor, file.size - tail, tail)
  return end.readUInt32LE(0) === crc && end.readUInt32LE(4) === size % 2 ** 32
}

/** Not a stream of `node:fs`, which closes the descriptor when it is given up. */
function* piecesOf(descriptor: number, start: number, end: number): Generator<Buffer> {
  for (let position = start; position < end;) {
    const piece = readAt(descriptor, position, Math.min(end - position, pieceLength))
    if (piece.length === 0) return
    position += piece.length
    yield piece
  }
}

const pieceLength = 64 * 1024

/** RFC 1952 §2.3.1: CRC-32 and length of the content. */
const gzipTail = 8

async function openDecoder(coding: ContentCoding, size: number): Promise<Transform | undefined> {
  if (coding === 'zstd') return await openZstdDecoder(size)
  // Not `createGunzip`, which takes several members for one.
  return coding === 'br' ? createBrotliDecompress() : createInflateRaw()
}
