import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as zlib from 'node:zlib'
import { type ContentCoding, contentCodings } from '@serve-dist/manifest'
import type { DescribedFile } from '../folder/describe-file.ts'
import { runBounded } from './run-bounded.ts'

/** Decoding is Node's pool's work: four threads. */
const filesAtOnce = 4

interface Candidate {
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
  const strangers: Candidate[] = []
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

function candidatesOf(path: string, files: ReadonlyMap<string, DescribedFile>): Candidate[] {
  return contentCodings.flatMap(({ name, extension }) => {
    const original = path.endsWith(extension) ? files.get(path.slice(0, -extension.length)) : undefined
    return original === undefined ? [] : [{ path, original, coding: name }]
  })
}

async function decodesToOriginal(folder: string, { path, original, coding }: Candidate): Promise<boolean> {
  const decoder = createDecoder(coding)
  if (decoder === undefined) return await beginsLikeZstd(join(folder, path))
  const sha256 = createHash('sha256')
  let size = 0
  try {
    await pipeline(createReadStream(join(folder, path)), decoder, async (pieces: AsyncIterable<Buffer>) => {
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

/** Node 20 has no decoder of zstd. */
function createDecoder(coding: ContentCoding): Transform | undefined {
  const createZstd: typeof zlib.createZstdDecompress | undefined = zlib.createZstdDecompress
  const decoders: Record<ContentCoding, () => Transform | undefined> = {
    zstd: () => createZstd?.(),
    br: () => zlib.createBrotliDecompress(),
    gzip: () => zlib.createGunzip(),
  }
  return decoders[coding]()
}

/** RFC 8878 §3.1.1: the magic number of a frame. */
async function beginsLikeZstd(file: string): Promise<boolean> {
  for await (const piece of createReadStream(file, { end: 3 })) {
    return Buffer.from([0x28, 0xb5, 0x2f, 0xfd]).equals(piece)
  }
  return false
}
