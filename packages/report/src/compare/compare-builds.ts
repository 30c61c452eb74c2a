import type { Manifest } from '@serve-dist/manifest'
import { type FileKind, fileKindOf } from '../builds/file-kind.ts'
import { type MatchedFile, matchFiles } from './match-files.ts'
import { defaultNoise, type Noise } from './noise.ts'
import { compareSizes, type SizeChanges } from './size-change.ts'
import { type SizeColumn, sizesOrNone } from '../builds/sizes.ts'
import { sumOfKind } from '../builds/sum-of-kind.ts'

/** How two builds are compared. */
export interface CompareBuildsOptions {
  /**
   * Changes that are called noise, see {@link Noise}.
   *
   * @default { percent: 0.1, bytes: 64 }
   */
  readonly noise?: Noise
}

/**
 * What became of a file. `noise`: other bytes that weigh the same, or nearly so; `same`: the very same bytes,
 * possibly under another name.
 */
export type FileState = 'new' | 'removed' | 'changed' | 'noise' | 'same'

/** One file of two builds. */
export interface FileComparison extends MatchedFile {
  readonly kind: FileKind
  readonly state: FileState
  readonly sizes: SizeChanges
}

/** What changed from one build to another. */
export interface BuildComparison {
  readonly before: Manifest
  readonly after: Manifest
  readonly noise: Noise
  /** Every file of either build, sorted by name. */
  readonly files: readonly FileComparison[]
  /** Sums over the files of one kind, and over all. */
  readonly totals: Readonly<Record<FileKind | 'total', SizeChanges>>
}

/** Compares two builds file by file, a file being the same one when only the hash in its name changed. */
export function compareBuilds(
  before: Manifest,
  after: Manifest,
  options: CompareBuildsOptions = {},
): BuildComparison {
  const { noise = defaultNoise } = options
  const files = matchFiles(before, after).map((file) => compareFile(file, { before, after, noise }))
  const total = (kind?: FileKind): SizeChanges =>
    compareSizes(sumOfKind(before, kind), sumOfKind(after, kind), noise)
  const totals = {
    js: total('js'),
    css: total('css'),
    html: total('html'),
    other: total('other'),
    total: total(),
  }
  return { before, after, noise, files, totals }
}

function compareFile(
  file: MatchedFile,
  builds: Pick<BuildComparison, 'before' | 'after' | 'noise'>,
): FileComparison {
  const { before, after } = file
  const sizes = compareSizes(
    sizesOrNone(before, builds.before),
    sizesOrNone(after, builds.after),
    builds.noise,
  )
  const kind = fileKindOf(after ?? before ?? { mediaType: '' })
  return { ...file, kind, state: stateOf(file, sizes), sizes }
}

function stateOf({ before, after }: MatchedFile, sizes: SizeChanges): FileState {
  if (before === undefined) return 'new'
  if (after === undefined) return 'removed'
  const columns: readonly SizeColumn[] = ['identity', 'gzip', 'br', 'zstd']
  const verdicts = columns.map((column) => sizes[column].verdict)
  if (verdicts.some((verdict) => verdict === 'larger' || verdict === 'smaller')) return 'changed'
  return before.sha256 === after.sha256 && verdicts.every((verdict) => verdict === 'same') ? 'same' : 'noise'
}
