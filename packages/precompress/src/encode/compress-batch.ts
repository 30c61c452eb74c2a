import { OperatorError, type OperatorErrorCode } from '@serve-dist/manifest'
import { compressFile, type FileContext, type FileOutcome, type FileTask } from './compress-file.ts'
import { createStager, type StagedVariant, type StagingArea } from '../commit/create-stager.ts'
import type { OwnVariants } from '../commit/read-earlier-build.ts'
import { encode } from '../codecs/encode.ts'
import { loadFile } from '../folder/describe-file.ts'
import { openEncodingCache } from '../cache/encoding-cache.ts'

/** Small files that one message sends to a thread. A message for each file would cost as much as encoding 500 bytes. */
export interface FileBatch {
  /** A name that no other batch of this compression has. */
  readonly name: string
  readonly files: readonly FileTask[]
  /** Existing variants of these files. */
  readonly ours: OwnVariants
  readonly area: StagingArea
  readonly cacheDirectory: string | undefined
}

/** The results of the files that the time limit allowed, from the start of the batch. */
export interface BatchAnswer {
  /** Results in the order of the batch. */
  readonly results: readonly (FileOutcome | FileFailure)[]
  /** An error of the final flush. The staged variants are then not durable. */
  readonly failure: FileFailure | undefined
  readonly staged: readonly StagedVariant[]
  /** The number of encodings, and their total time. */
  readonly work: { readonly results: number; readonly milliseconds: number }
  /** Number of bytes that the cache gained. */
  readonly bytesAdded: number
  readonly warnings: readonly string[]
}

/** A failure of one file, or of the whole folder. */
export type FileFailure =
  | { readonly error: unknown }
  | { readonly code: OperatorErrorCode; readonly folderProblems: readonly string[] }

/** The time limit in milliseconds, so that larger work can start and other threads get a share. */
const longestMs = 30

/** Reads, encodes and stages small files in this thread, for about 30 ms. */
export async function compressBatch(batch: FileBatch): Promise<BatchAnswer> {
  const { name, files, ours, area, cacheDirectory: directory } = batch
  const startedAt = performance.now()
  const work = { results: 0, milliseconds: 0 }
  const warnings: string[] = []
  const stager = createStager(area, name)
  const warn = (message: string): void => void warnings.push(message)
  const cache = openEncodingCache({ directory, warn })
  let bytes: Uint8Array = new Uint8Array()
  const context: FileContext = {
    folder: area.folder,
    ours,
    describe: async (path) => {
      const { bytes: loaded, ...file } = await loadFile(area.folder, path)
      bytes = loaded
      return file
    },
    encode: async (_file, coding) => {
      const begunAt = performance.now()
      const encoded = await encode(bytes, coding)
      work.results += 1
      work.milliseconds += performance.now() - begunAt
      return encoded
    },
    cache,
    stage: stager.stage,
    onShare: () => {},
  }

  const results: (FileOutcome | FileFailure)[] = []
  for (const file of files) {
    results.push(await compressFile(file, context).catch(failureOf))
    if (performance.now() - startedAt > longestMs) break
  }
  const failure = await stager.settle().then(() => undefined, failureOf)
  return { results, failure, staged: stager.staged, work, bytesAdded: cache.bytesAdded(), warnings }
}

/** Converts an error into a form that another thread can receive. Messages between threads do not keep the class of an error. */
export function failureOf(error: unknown): FileFailure {
  return error instanceof OperatorError ? { code: error.code, folderProblems: error.problems } : { error }
}
