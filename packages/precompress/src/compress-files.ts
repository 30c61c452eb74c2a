import type { ContentCoding } from '@serve-dist/manifest'
import type { CompressedFile } from './build-manifest.ts'
import { AbandonedError } from './create-encode-queue.ts'
import { type DescribedFile, describeFile, loadFile, type LoadedFile } from './describe-file.ts'
import { encodingCost } from './encoding-cost.ts'
import { findPlaces } from './find-places.ts'
import { isCompressible } from './is-compressible.ts'
import type { ListedFile } from './list-files.ts'
import { mediaTypeOf } from './media-type-of.ts'
import { PrecompressError } from './precompress-error.ts'
import type { Progress } from './precompress-options.ts'
import { reasonOf } from './reason-of.ts'
import { runBounded } from './run-bounded.ts'
import { stageVariants, type Staging } from './stage-variants.ts'

/** Where the files stand, how they are encoded and where the results go. */
export interface Compression extends Omit<Staging, 'onOutcome'> {
  readonly folder: string
  readonly codings: readonly ContentCoding[]
  readonly minimumSize: number
  readonly bytesInFlight: number
  /** Ends the encoding of everything that has not begun. */
  readonly abandon: () => void
  /** The variants of earlier passes: only those may be replaced. */
  readonly ours: ReadonlyMap<string, string>
  readonly onProgress: (progress: Progress) => void
  readonly warn: (message: string) => void
}

/** What is known of all files now. */
interface Compressed {
  readonly files: readonly CompressedFile[]
  /** Outcomes of encoding that the cache knew. */
  readonly cacheHits: number
}

/** Enough that cores find work while files are read and written, and that the largest of it is among them. */
const filesAtOnce = 64

/** No buffer of `readFile` is longer. */
const largestLoadable = 2 ** 31 - 1

/**
 * Describes every file and stages the variants that pay.
 *
 * @throws {@link PrecompressError} that lists every file that failed; after the first nothing is encoded any more.
 */
export async function compressFiles(
  files: readonly ListedFile[],
  compression: Compression,
): Promise<Compressed> {
  const { folder, codings, onProgress } = compression
  const problems = new Map<string, unknown>()
  const compressed: CompressedFile[] = []
  const taken: string[] = []
  let cacheHits = 0
  const progress = {
    files: 0,
    totalFiles: files.length,
    bytes: 0,
    totalBytes: sum(files.map(({ size }) => size)),
  }
  let interruption: { readonly reason: unknown } | undefined
  const report = (): void => {
    try {
      onProgress({ ...progress, bytes: Math.round(progress.bytes) })
    } catch (reason) {
      interruption ??= { reason }
      compression.abandon()
    }
  }
  report()

  const compressOne = async (file: ListedFile): Promise<void> => {
    let bytesLeft = file.size
    // A large file is minutes of work: each coding of it counts by its share.
    const count = (share: number): void => {
      const bytes = Math.min(file.size * share, bytesLeft)
      bytesLeft -= bytes
      progress.bytes += bytes
    }
    try {
      if (isCandidate(file, compression)) {
        const places = findPlaces(folder, file.path, codings, compression.ours)
        taken.push(...places.taken)
        const loaded = await loadFile(folder, file.path)
        const wanted = problems.size === 0 ? places.free : []
        const onOutcome = (coding: ContentCoding): void => {
          count(encodingCost(coding, 1) / sum(wanted.map((other) => encodingCost(other, 1))))
          report()
        }
        const staged = await stageVariants(loaded, wanted, { ...compression, onOutcome })
        cacheHits += staged.cacheHits
        compressed.push({ file: withoutBytes(loaded), variants: staged.variants })
      } else {
        compressed.push({ file: await describeFile(folder, file.path), variants: [] })
      }
    } catch (error) {
      if (error instanceof PrecompressError) interruption ??= { reason: error }
      else if (!(error instanceof AbandonedError)) problems.set(file.path, error)
      compression.abandon()
    }
    count(1)
    progress.files += 1
    report()
  }

  // Largest first: one that is begun last would be waited for alone.
  const largestFirst = files.toSorted((a, b) => b.size - a.size)
  const bytesOf = (file: ListedFile): number => (isCandidate(file, compression) ? file.size : 0)
  await runBounded(
    largestFirst,
    { tasks: filesAtOnce, bytes: compression.bytesInFlight, bytesOf },
    compressOne,
  )

  // What a callback of the caller's threw, or what is wrong with the folder, is no problem of a file.
  if (interruption !== undefined) throw interruption.reason
  if (problems.size > 0) throw failure(problems)
  warnOfTakenPlaces(taken, compression.warn)
  warnOfGiants(files, compression)
  return { files: compressed, cacheHits }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function isCandidate({ path, size }: ListedFile, { codings, minimumSize }: Compression): boolean {
  return (
    codings.length > 0 &&
    size >= minimumSize &&
    size > 0 &&
    size <= largestLoadable &&
    isCompressible(mediaTypeOf(path))
  )
}

/** Lets go of the bytes. */
function withoutBytes({ path, mediaType, size, sha256, stamp }: LoadedFile): DescribedFile {
  return { path, mediaType, size, sha256, stamp }
}

function failure(problems: ReadonlyMap<string, unknown>): PrecompressError {
  const sorted = [...problems].toSorted(([a], [b]) => (a < b ? -1 : 1))
  return new PrecompressError(
    sorted.map(([path, error]) => `${path}: cannot be compressed (${reasonOf(error)})`),
    { cause: sorted[0]?.[1] },
  )
}

function warnOfTakenPlaces(taken: readonly string[], warn: (message: string) => void): void {
  if (taken.length === 0) return
  const shown = taken.toSorted().slice(0, 3).join(', ')
  const more = taken.length > 3 ? ` and ${taken.length - 3} more` : ''
  warn(
    `${shown}${more} stand where variants would go, and no earlier pass made them: they stay files like any other, and those variants are left out; delete them if another tool left them behind`,
  )
}

function warnOfGiants(files: readonly ListedFile[], { codings, warn }: Compression): void {
  for (const { path, size } of files) {
    if (codings.length > 0 && size > largestLoadable && isCompressible(mediaTypeOf(path))) {
      warn(`${path} gets no variants: it is larger than 2 GiB`)
    }
  }
}
