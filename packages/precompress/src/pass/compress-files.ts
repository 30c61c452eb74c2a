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

/** Where the files stand, how they are encoded and where the results go. */
export interface Compression
  extends
    Pick<FileContext, 'folder' | 'ours' | 'cache'>,
    Pick<
      ResolvedPrecompressOptions,
      'codings' | 'minimumSize' | 'bytesInFlight' | 'environment' | 'signal' | 'onProgress'
    > {
  readonly encoder: Encoder
  readonly writer: BuildWriter
  /** Where files stand that were looked at, so that no variant can. */
  readonly occupied: ReadonlySet<string>
  readonly warn: (message: string) => void
}

/** Enough that cores find work while files are read and written, and that the largest of it is among them. */
const filesAtOnce = 64

/** No buffer of `readFile` is longer. */
const largestLoadable = 2 ** 31 - 1

/** In bytes: what is described in less than a millisecond. */
const smallSize = 1024 * 1024

/**
 * Describes every file and stages the variants that pay.
 *
 * @throws OperatorError that lists every file that failed; after the first nothing is encoded any more. The
 * reason of `signal` when it ended the work.
 */
export async function compressFiles(
  listed: readonly ListedFile[],
  compression: Compression,
): Promise<CompressionResult> {
  const { folder, encoder, bytesInFlight, signal, onProgress, warn } = compression
  // Largest first: one that is begun last would be waited for alone.
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
    // After a failure all that is wrong is still found, but nothing encoded.
    const task = results.hasFailed() ? { ...file, codings: [] } : file
    results.add(file, await compressFile(task, context).catch(failureOf))
  }

  // The variants of a file stay in memory until its last coding is done.
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

/** How small files are done one by one, and where all are counted. */
interface SmallFilesContext extends Compression {
  readonly tally: ResultCollector
  /** Does one in this thread. */
  readonly compressOne: (file: FileTask) => Promise<void>
}

/** More would be a message that is itself work. */
const largestBatch = 64

/**
 * Compresses small files: in this thread as long as there is little to encode, which with a filled cache is to the
 * end; the others in all threads, by batches whose every step is done there.
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
      warn(`${path} gets no variants: it is larger than 2 GiB`)
    }
  }
}
