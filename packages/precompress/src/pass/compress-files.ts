import { failureOf } from '../encode/compress-batch.ts'
import { compressFile, type FileContext, type FileTask } from '../encode/compress-file.ts'
import type { Compression } from './compression.ts'
import { createSharedMemory, type SharedMemory } from '../encode/create-shared-memory.ts'
import { compressSmallFiles } from './compress-small-files.ts'
import { type Compressed, createTally } from './create-tally.ts'
import { encodingCost, smallWork } from '../codecs/encoding-cost.ts'
import { isCompressible } from '../is-compressible.ts'
import type { ListedFile } from '../folder/list-files.ts'
import { mediaTypeOf } from '../media-type-of.ts'
import { runBounded } from './run-bounded.ts'

/** Enough that cores find work while files are read and written, and that the largest of it is among them. */
const filesAtOnce = 64

/** No buffer of `readFile` is longer. */
const largestLoadable = 2 ** 31 - 1

/** In bytes: what is described in less than a millisecond. */
const smallSize = 1024 * 1024

/**
 * Describes every file and stages the variants that pay.
 *
 * @throws PrecompressError that lists every file that failed; after the first nothing is encoded any more. The
 * reason of `signal` when it ended the work.
 */
export async function compressFiles(
  listed: readonly ListedFile[],
  compression: Compression,
): Promise<Compressed> {
  const { encoder, bytesInFlight, signal, onProgress, warn } = compression
  // Largest first: one that is begun last would be waited for alone.
  const files = listed.map((file) => taskOf(file, compression)).toSorted((a, b) => b.size - a.size)
  const tally = createTally(files, { onProgress, onFailure: encoder.abandon })

  const memory = openMemory(files, bytesInFlight)
  const context: FileContext = { ...compression, encode: encoder.encode, memory, onShare: tally.countShare }
  const compressOne = async (file: FileTask): Promise<void> => {
    if (signal?.aborted === true) return
    // After a failure all that is wrong is still found, but nothing encoded.
    const task = tally.hasFailed() ? { ...file, codings: [] } : file
    tally.add(file, await compressFile(task, context).catch(failureOf))
  }

  const bounds = {
    tasks: filesAtOnce,
    bytes: bytesInFlight,
    bytesOf: ({ size, codings }: FileTask) => (codings.length > 0 ? size : 0),
  }
  const large = files.filter((file) => !isSmall(file))
  const abort = (): void => {
    tally.fail({ error: signal?.reason })
    void encoder.close()
  }
  signal?.addEventListener('abort', abort)
  await Promise.all([
    runBounded(large, bounds, compressOne),
    compressSmallFiles(files.filter(isSmall), { ...compression, tally, compressOne }),
  ]).finally(() => signal?.removeEventListener('abort', abort))
  const compressed = tally.total()
  warnOfTakenPlaces(compressed.taken, warn)
  warnOfGiants(listed, compression)
  return compressed
}

/** The encodings of all but small files use its memory together, in several threads. */
function openMemory(files: readonly FileTask[], bytesInFlight: number): SharedMemory {
  const sizes = files
    .filter(({ size, codings }) => codings.length > 0 && isShared(size))
    .map(({ size }) => size)
  const all = sizes.reduce((sum, size) => sum + size, 0)
  // They are in order of size, and the largest must fit.
  const shared = createSharedMemory(Math.max(sizes[0] ?? 0, Math.min(all, bytesInFlight)))
  return {
    take: async (size) => (isShared(size) ? await shared.take(size) : new Uint8Array(size)),
    giveBack: (bytes) => shared.giveBack(bytes),
  }
}

function isShared(size: number): boolean {
  return size > 32 * 1024
}

function taskOf({ path, size }: ListedFile, { codings, minimumSize }: Compression): FileTask {
  const isCandidate =
    size >= minimumSize && size > 0 && size <= largestLoadable && isCompressible(mediaTypeOf(path))
  return { path, size, codings: isCandidate ? codings : [] }
}

function isSmall({ size, codings }: FileTask): boolean {
  const cost = codings.reduce((sum, coding) => sum + encodingCost(coding, size), 0)
  return cost <= smallWork && size <= smallSize
}

function warnOfTakenPlaces(taken: readonly string[], warn: (message: string) => void): void {
  if (taken.length === 0) return
  const shown = taken.toSorted().slice(0, 3).join(', ')
  const more = taken.length > 3 ? ` and ${taken.length - 3} more` : ''
  warn(
    `${shown}${more} stand where variants would go, and no earlier pass made them: they stay files like any other, and those variants are left out; delete them if another tool left them behind, and take it out of the build`,
  )
}

function warnOfGiants(files: readonly ListedFile[], { codings, warn }: Compression): void {
  for (const { path, size } of files) {
    if (codings.length > 0 && size > largestLoadable && isCompressible(mediaTypeOf(path))) {
      warn(`${path} gets no variants: it is larger than 2 GiB`)
    }
  }
}
