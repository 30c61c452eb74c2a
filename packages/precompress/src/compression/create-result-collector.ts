import { OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import type { CompressedFile } from '../commit/build-manifest.ts'
import type { FileFailure } from '../encode/compress-batch.ts'
import type { FileOutcome, FileTask } from '../encode/compress-file.ts'
import { AbandonedError } from '../encode/open-encoder.ts'
import type { Progress } from '../precompress-options.ts'

/** The results of all files of a compression. */
export interface CompressionResult {
  readonly files: readonly CompressedFile[]
  /** Paths of variants that are files of the user. */
  readonly taken: readonly string[]
  /** The number of variants from the cache. */
  readonly cacheHits: number
}

/** Collects results and reports progress. */
export interface ResultCollector {
  /** Counts a part of a file, because a large file takes minutes. */
  readonly countShare: (file: FileTask, share: number) => void
  /** Adds the result of a file. */
  add(file: FileTask, outcome: FileOutcome | FileFailure): void
  /** Records a failure that does not belong to a file. */
  fail(failure: FileFailure): void
  /** Whether there was a failure. Then further encoding is useless. */
  hasFailed(): boolean
  /**
   * Returns all results.
   *
   * @throws the failure that does not belong to a file, otherwise an {@link OperatorError} that lists all failed files.
   */
  total(): CompressionResult
}

export interface ResultCollectorOptions {
  readonly onProgress: (progress: Progress) => void
  /** Called after each failure. */
  readonly onFailure: () => void
}

export function createResultCollector(
  files: readonly FileTask[],
  { onProgress, onFailure }: ResultCollectorOptions,
): ResultCollector {
  const done: CompressedFile[] = []
  const taken: string[] = []
  const problems = new Map<string, unknown>()
  const counted = new Map<FileTask, number>()
  const totalBytes = files.reduce((sum, { size }) => sum + size, 0)
  let interruption: { readonly reason: unknown } | undefined
  let cacheHits = 0
  let filesDone = 0
  let bytesDone = 0

  const interrupt = (reason: unknown): void => {
    interruption ??= { reason }
    onFailure()
  }
  const fail = (failure: FileFailure): void => {
    interrupt('error' in failure ? failure.error : new OperatorError(failure.code, failure.folderProblems))
  }
  const report = (): void => {
    try {
      onProgress({ files: filesDone, totalFiles: files.length, bytes: Math.round(bytesDone), totalBytes })
    } catch (reason) {
      interrupt(reason)
    }
  }
  const countBytes = (file: FileTask, share: number): void => {
    const before = counted.get(file) ?? 0
    const bytes = Math.min(file.size * share, file.size - before)
    counted.set(file, before + bytes)
    bytesDone += bytes
  }
  report()

  return {
    countShare(file, share) {
      countBytes(file, share)
      report()
    },
    add(file, outcome) {
      if ('compressed' in outcome) {
        done.push(outcome.compressed)
        taken.push(...outcome.taken)
        cacheHits += outcome.cacheHits
      } else if ('folderProblems' in outcome) {
        fail(outcome)
      } else if (!(outcome.error instanceof AbandonedError)) {
        problems.set(file.path, outcome.error)
        onFailure()
      }
      countBytes(file, 1)
      counted.delete(file)
      filesDone += 1
      report()
    },
    fail,
    hasFailed: () => interruption !== undefined || problems.size > 0,
    total() {
      // An error of a callback or of the folder takes precedence over errors of files.
      if (interruption !== undefined) throw interruption.reason
      if (problems.size > 0) throw failureOfFiles(problems)
      return { files: done, taken, cacheHits }
    },
  }
}

function failureOfFiles(problems: ReadonlyMap<string, unknown>): OperatorError {
  const sorted = [...problems].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return new OperatorError(
    'SD_PASS_FAILED',
    sorted.map(([path, error]) => `${path}: cannot compress this file (${reasonOf(error)})`),
    { cause: sorted[0]?.[1] },
  )
}
