import { variantPath } from '@serve-dist/manifest'
import { failureOf, type FileBatch } from '../encode/compress-batch.ts'
import type { FileTask } from '../encode/compress-file.ts'
import type { Compression } from './compression.ts'
import type { Tally } from './create-tally.ts'

/** How small files are done one by one, and where all are counted. */
export interface SmallFilesContext extends Compression {
  readonly tally: Tally
  /** Does one in this thread. */
  readonly compressOne: (file: FileTask) => Promise<void>
}

/** More would be a message that is itself work. */
const largestBatch = 64

/**
 * Compresses small files: in this thread as long as there is little to encode, which with a filled cache is to the
 * end; the others in all threads, by batches whose every step is done there.
 */
export async function compressSmallFiles(
  files: readonly FileTask[],
  context: SmallFilesContext,
): Promise<void> {
  const { encoder, tally, cache, writer, signal, compressOne, warn } = context
  let begun = 0
  for (; begun < files.length && encoder.isWorthHere(0); begun += 1) {
    const file = files[begun]
    if (file !== undefined) await compressOne(file)
  }

  const left = files.slice(begun)
  let batches = 0

  const compressSome = async (): Promise<void> => {
    // So small at the end that all cores end together.
    const size = Math.min(largestBatch, Math.ceil(left.length / encoder.cores / 2))
    const some = left.splice(0, size)
    batches += 1
    try {
      const answer = await encoder.compressBatch(batchOf(some, String(batches), context))
      writer.adopt(answer.staged)
      cache.noteAdded(answer.bytesAdded)
      for (const message of answer.warnings) warn(message)
      for (const [index, result] of answer.results.entries()) {
        const file = some[index]
        if (file !== undefined) tally.add(file, result)
      }
      if (answer.failure !== undefined) tally.fail(answer.failure)
      left.unshift(...some.slice(answer.results.length))
    } catch (error) {
      for (const file of some) tally.add(file, failureOf(error))
    }
  }
  await encoder.fillUp(() => (left.length > 0 && signal?.aborted !== true ? compressSome() : undefined))
}

function batchOf(files: readonly FileTask[], name: string, context: SmallFilesContext): FileBatch {
  const { ours, writer, cache, tally } = context
  const wanted = tally.hasFailed() ? files.map((file) => ({ ...file, codings: [] })) : files
  const paths = wanted.flatMap(({ path, codings }) => codings.map((coding) => variantPath(path, coding)))
  const oursHere = new Map(
    paths.flatMap((path): [string, string][] => {
      const sha256 = ours.get(path)
      return sha256 === undefined ? [] : [[path, sha256]]
    }),
  )
  return { name, files: wanted, ours: oursHere, area: writer.area, cacheDirectory: cache.directory }
}
