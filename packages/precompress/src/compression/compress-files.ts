import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { type ContentCoding, isCompressible, mediaTypeOf, variantPath } from '@serve-dist/manifest'
import { createWeightedSemaphore } from '@serve-dist/foundation/concurrency/create-weighted-semaphore'
import { forEachConcurrently } from '@serve-dist/foundation/concurrency/for-each-concurrently'
import { encodingCost, smallWork } from '../codecs/encoding-cost.ts'
import type { BuildWriter } from '../commit/build-writer.ts'
import { failureOf, type FileBatch } from '../encode/compress-batch.ts'
import { compressFile, type FileContext, type FileTask } from '../encode/compress-file.ts'
import type { Encoder } from '../encode/open-encoder.ts'
import { describeFile, type FileDigest } from '../folder/describe-file.ts'
import type { ListedFile } from '../folder/list-files.ts'
import type { ResolvedPrecompressOptions } from '../resolve-precompress-options.ts'
import {
  type CompressionResult,
  createResultCollector,
  type ResultCollector,
} from './create-result-collector.ts'

/** The files, the encoder and the outputs of a compression. */
export interface Compression
  extends
    Pick<FileContext, 'folder' | 'ours' | 'cache'>,
    Pick<
      ResolvedPrecompressOptions,
      'codings' | 'minimumSize' | 'bytesInFlight' | 'environment' | 'signal' | 'onProgress'
    > {
  readonly encoder: Encoder
  readonly writer: BuildWriter
  /** Paths of files that were already examined. A variant cannot have such a path. */
  readonly occupied: ReadonlySet<string>
  readonly warn: (message: string) => void
}

/** Enough to keep all cores busy during reads and writes, and to find large work early. */
const filesAtOnce = 64

/** The largest buffer that `readFile` returns, in bytes. */
const largestLoadable = 2 ** 31 - 1

/** Files up to this number of bytes are read and hashed in less than a millisecond. */
const smallSize = 1024 * 1024

/**
 * Describes all files and stages the variants that are worth keeping.
 *
 * @throws OperatorError that lists all failed files; after the first failure, nothing is encoded. Throws the reason of
 * `signal` if it aborts the compression.
 */
export async function compressFiles(
  listed: readonly ListedFile[],
  compression: Compression,
): Promise<CompressionResult> {
  const { folder, encoder, bytesInFlight, signal, onProgress, warn } = compression
  // Start with the largest, because the last file would otherwise keep one core busy alone.
  const files = listed.map((file) => taskOf(file, compression)).toSorted((a, b) => b.size - a.size)
  const results = createResultCollector(files, { onProgress, onFailure: encoder.abandon })
  const context: FileContext = {
    ...compression,
    describe: async (path) => await describeFile(folder, path),
    stage: compression.writer.stage,
    encode: async (file, coding) => await encoder.encode({ ...file, folder, coding }),
    onShare: results.countShare,
  }
  const compressOne = async (file: FileTask): Promise<void> => {
    if (signal?.aborted === true) return
    // After a failure, still examine the other files, but do not encode them.
    const task = results.hasFailed() ? { ...file, codings: [] } : file
    results.add(file, await compressFile(task, context).catch(failureOf))
  }

  // All variants of a file stay in memory until its last coding is done.
  const inFlight = createWeightedSemaphore(bytesInFlight)
  const compressLarge = async (file: FileTask): Promise<void> => {
    await inFlight(async () => await compressOne(file), file.codings.length > 0 ? file.size : 0)
  }

  const large = files.filter((file) => !isSmall(file))
  const abort = (): void => {
    results.fail({ error: signal?.reason })
    void encoder.close()
  }
  signal?.addEventListener('abort', abort)
  await Promise.all([
    forEachConcurrently(large, filesAtOnce, compressLarge),
    compressSmallFiles(files.filter(isSmall), { ...compression, tally: results, compressOne }),
  ]).finally(() => signal?.removeEventListener('abort', abort))
  const compressed = results.total()
  warnAboutOccupiedPaths(compressed.taken, warn)
  warnAboutHugeFiles(listed, compression)
  return compressed
}

/** The context for small files. */
interface SmallFilesContext extends Compression {
  readonly tally: ResultCollector
  /** Compresses one file in this thread. */
  readonly compressOne: (file: FileTask) => Promise<void>
}

/** Maximum number of files in a batch. A larger message would take noticeable time. */
const largestBatch = 64

/**
 * Compresses small files in this thread while there is little to encode, as with a full cache. Then sends batches to
 * all threads.
 */
async function compressSmallFiles(files: readonly FileTask[], context: SmallFilesContext): Promise<void> {
  const { encoder, tally: results, cache, writer, signal, compressOne, warn } = context
  let begun = 0
  for (; begun < files.length && encoder.isWorthHere(0); begun += 1) {
    const file = files[begun]
    if (file !== undefined) await compressOne(file)
  }

  const left = files.slice(begun)
  let batches = 0

  const compressSome = async (): Promise<void> => {
    let some: readonly FileTask[] = []
    try {
      const answer = await encoder.compressBatch(() => {
        if (signal?.aborted === true) left.length = 0
        if (left.length === 0) return undefined
        // The last batches are small, so that all cores finish at the same time.
        some = left.splice(0, Math.min(largestBatch, Math.ceil(left.length / encoder.cores / 2)))
        batches += 1
        return batchOf(some, String(batches), context)
      })
      if (answer === undefined) return
      writer.adopt(answer.staged)
      cache.noteAdded(answer.bytesAdded)
      for (const message of answer.warnings) warn(message)
      for (const [index, result] of answer.results.entries()) {
        const file = some[index]
        if (file !== undefined) results.add(file, result)
      }
      if (answer.failure !== undefined) results.fail(answer.failure)
      left.unshift(...some.slice(answer.results.length))
    } catch (error) {
      for (const file of some) results.add(file, failureOf(error))
    }
  }
  const compressRest = async (): Promise<void> => {
    while (left.length > 0) await compressSome()
  }
  await Promise.all(Array.from({ length: encoder.cores }, compressRest))
}

function batchOf(files: readonly FileTask[], name: string, context: SmallFilesContext): FileBatch {
  const { ours, writer, cache, tally: results } = context
  const wanted = results.hasFailed() ? files.map((file) => ({ ...file, codings: [] })) : files
  const paths = wanted.flatMap(({ path, codings }) => codings.map((coding) => variantPath(path, coding)))
  const oursHere = new Map(
    paths.flatMap((path): [string, FileDigest][] => {
      const variant = ours.get(path)
      return variant === undefined ? [] : [[path, variant]]
    }),
  )
  return { name, files: wanted, ours: oursHere, area: writer.area, cacheDirectory: cache.directory }
}

function taskOf(
  { path, size }: ListedFile,
  { codings, minimumSize, environment, occupied }: Compression,
): FileTask {
  const isCandidate =
    path !== environment?.path &&
    size >= minimumSize &&
    size > 0 &&
    size <= largestLoadable &&
    isCompressible(mediaTypeOf(path))
  const isFree = (coding: ContentCoding): boolean => !occupied.has(variantPath(path, coding))
  return { path, size, codings: isCandidate ? codings.filter(isFree) : [] }
}

function isSmall({ size, codings }: FileTask): boolean {
  const cost = codings.reduce((sum, coding) => sum + encodingCost(coding, size), 0)
  return cost <= smallWork && size <= smallSize
}

function warnAboutOccupiedPaths(taken: readonly string[], warn: (message: string) => void): void {
  if (taken.length === 0) return
  const [exist, them, variants, files] =
    taken.length === 1
      ? ['exists', 'it', 'that variant is', 'file']
      : ['exist', 'them', 'those variants are', 'files']
  warn(
    `${joinFirstNames(taken.toSorted())} already ${exist} and serve-dist did not write ${them}, so ${variants} left out. If another compression plugin made ${them}, remove that plugin and delete the ${files}.`,
  )
}

function warnAboutHugeFiles(files: readonly ListedFile[], { codings, warn }: Compression): void {
  for (const { path, size } of files) {
    if (codings.length > 0 && size > largestLoadable && isCompressible(mediaTypeOf(path))) {
      warn(
        `${path} gets no variants because it is larger than 2 GiB. Split the file if clients need it compressed.`,
      )
    }
  }
}
