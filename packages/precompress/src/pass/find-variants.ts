import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import type { Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createBrotliDecompress, createGunzip } from 'node:zlib'
import { type ContentCoding, contentCodings } from '@serve-dist/manifest'
import { isForBrowsers, longestHeader, openZstdDecoder } from '../codecs/zstd-decoder.ts'
import type { DescribedFile } from '../folder/describe-file.ts'
import { runBounded } from './run-bounded.ts'

/** Decoding is Node's pool's work: four threads. */
const filesAtOnce = 4

/** A file that is named like a variant of another. */
export interface Sibling {
  readonly path: string
  readonly original: DescribedFile
  readonly coding: ContentCoding
}

/**
 * The files that are variants of another: named like it with a coding's extension, and with its very bytes
 * once they are decoded. A variant of an earlier build, or anything else, is a file of its
 * own, with a warning.
 *
 * @returns their paths. Of `x.js`, `x.js.br` and `x.js.br.gz` the second: the third, of a variant, is a file.
 */
export async function findVariants(
  folder: string,
  files: ReadonlyMap<string, DescribedFile>,
  onWarning: (message: string) => void,
): Promise<ReadonlySet<string>> {
  const candidates = [...files.keys()].flatMap((path) => candidatesOf(path, files))
  const confirmed = new Map<string, string>()
  const strangers: Sibling[] = []
  const bounds = { tasks: filesAtOnce, bytes: Infinity, bytesOf: () => 0 }
  await runBounded(candidates, bounds, async (candidate) => {
    if (await decodesToOriginal(folder, candidate)) confirmed.set(candidate.path, candidate.original.path)
    else strangers.push(candidate)
  })
  for (const { path, original, coding } of strangers.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
    onWarning(`${path} is not ${original.path} in ${coding}: it is served as a file of its own`)
  }
  const isVariant = (path: string): boolean => {
    const original = confirmed.get(path)
    return original !== undefined && !isVariant(original)
  }
  return new Set([...confirmed.keys()].filter(isVariant))
}

function candidatesOf(path: string, files: ReadonlyMap<string, DescribedFile>): Sibling[] {
  return contentCodings.flatMap(({ name, extension }) => {
    const original = path.endsWith(extension) ? files.get(path.slice(0, -extension.length)) : undefined
    return original === undefined ? [] : [{ path, original, coding: name }]
  })
}

/** Whether a sibling is its original in its coding, to the last byte; not where nothing here can decode it. */
export async function decodesToOriginal(
  folder: string,
  { path, original, coding }: Sibling,
): Promise<boolean> {
  const file = join(folder, path)
  const sha256 = createHash('sha256')
  let size = 0
  try {
    if (coding === 'zstd' && !isForBrowsers(await headOf(file))) return false
    const decoder = await openDecoder(coding, original.size)
    if (decoder === undefined) return false
    await pipeline(createReadStream(file), decoder, async (pieces: AsyncIterable<Buffer>) => {
      for await (const piece of pieces) {
        size += piece.length
        // Longer than the original: it is another file, and may be endless.
        if (size > original.size) return
        sha256.update(piece)
      }
    })
  } catch {
    // Not in this coding, or cut short.
    return false
  }
  return size === original.size && sha256.digest('hex') === original.sha256
}

async function headOf(file: string): Promise<Buffer> {
  return await buffer(createReadStream(file, { end: longestHeader - 1 }))
}

async function openDecoder(coding: ContentCoding, size: number): Promise<Transform | undefined> {
  const decoders: Record<ContentCoding, () => Transform | undefined | Promise<Transform | undefined>> = {
    zstd: async () => await openZstdDecoder(size),
    br: () => createBrotliDecompress(),
    gzip: () => createGunzip(),
  }
  return await decoders[coding]()
}
