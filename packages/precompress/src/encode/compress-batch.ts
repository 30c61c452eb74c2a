import { OperatorError, type OperatorErrorCode } from '@serve-dist/manifest'
import { compressFile, type FileContext, type FileOutcome, type FileTask } from './compress-file.ts'
import { createStager, type StagedVariant, type StagingArea } from '../commit/create-stager.ts'
import type { OwnVariants } from '../commit/read-earlier-build.ts'
import { encode } from '../codecs/encode.ts'
import { loadFile } from '../folder/describe-file.ts'
import { openEncodingCache } from '../cache/encoding-cache.ts'

/** Small files that are handed over together: a message for each would cost as much as encoding 500 bytes. */
export interface FileBatch {
  /** No other batch of the pass has it. */
  readonly name: string
  readonly files: readonly FileTask[]
  /** Of these files. */
  readonly ours: OwnVariants
  readonly area: StagingArea
  readonly cacheDirectory: string | undefined
}

/** What came of as many of the first ones as there was time for. */
export interface BatchAnswer {
  /** In the batch's order. */
  readonly results: readonly (FileOutcome | FileFailure)[]
  /** Why what is staged may not last. */
  readonly failure: FileFailure | undefined
  readonly staged: readonly StagedVariant[]
  /** Encodings that were made now, and the time that they took. */
  readonly work: { readonly results: number; readonly milliseconds: number }
  /** To the cache. */
  readonly bytesAdded: number
  readonly warnings: readonly string[]
}

/** A failure of one file, or of the whole folder. */
export type FileFailure =
  | { readonly error: unknown }
  | { readonly code: OperatorErrorCode; readonly folderProblems: readonly string[] }

/** Then larger work gets its turn, and others their share of what is left. */
const longestMs = 30

/** Reads, encodes and writes small files where it is called, for about 30 ms. */
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

/** An error in a form that survives the way to another thread, which loses its class. */
export function failureOf(error: unknown): FileFailure {
  return error instanceof OperatorError ? { code: error.code, folderProblems: error.problems } : { error }
}
