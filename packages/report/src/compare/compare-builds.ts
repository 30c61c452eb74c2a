import { groupDigits } from '@serve-dist/foundation/text/group-digits'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import type { Manifest } from '@serve-dist/manifest'
import { formatChange, formatSize } from '../builds/format-values.ts'
import { codings, type FileKind, fileKindOf, sizesOf, sumOfKind } from '../builds/sizes.ts'
import { type MatchedFile, matchFiles } from './match-files.ts'
import { compareSizes, defaultNoise, type Noise, type SizeChanges } from './size-change.ts'

/** Options of a comparison. */
export interface CompareBuildsOptions {
  /**
   * The limits below which changes are noise, see {@link Noise}.
   *
   * @default { percent: 0.1, bytes: 64 }
   */
  readonly noise?: Noise
}

/**
 * The state of a file. `noise`: the content changed, but the size hardly did. `same`: the content is equal, possibly
 * under another name.
 */
export type FileState = 'new' | 'removed' | 'changed' | 'noise' | 'same'

/** One file of two builds. */
export interface FileComparison extends MatchedFile {
  readonly kind: FileKind
  readonly state: FileState
  readonly sizes: SizeChanges
}

/** The changes from one build to another. */
export interface BuildComparison {
  readonly before: Manifest
  readonly after: Manifest
  readonly noise: Noise
  /** The files of both builds, sorted by name. */
  readonly files: readonly FileComparison[]
  /** The totals of each kind and of all files. */
  readonly totals: Readonly<Record<FileKind | 'total', SizeChanges>>
}

/** Compares two builds file by file. Files whose names differ only in the hash are compared with each other. */
export function compareBuilds(
  before: Manifest,
  after: Manifest,
  options: CompareBuildsOptions = {},
): BuildComparison {
  const { noise = defaultNoise } = options
  const files = matchFiles(before, after).map((file) => compareFile(file, { before, after, noise }))
  const total = (kind?: FileKind): SizeChanges =>
    compareSizes(sumOfKind(before, kind), sumOfKind(after, kind), noise)
  const ofKinds = { js: total('js'), css: total('css'), html: total('html'), other: total('other') }
  const totals = { ...ofKinds, total: total() }
  return { before, after, noise, files, totals }
}

function compareFile(
  file: MatchedFile,
  builds: Pick<BuildComparison, 'before' | 'after' | 'noise'>,
): FileComparison {
  const { before, after } = file
  const sizes = compareSizes(sizesOf(before, builds.before), sizesOf(after, builds.after), builds.noise)
  const kind = fileKindOf(after ?? before ?? { mediaType: '' })
  return { ...file, kind, state: stateOf(file, sizes), sizes }
}

function stateOf({ before, after }: MatchedFile, sizes: SizeChanges): FileState {
  if (before === undefined) return 'new'
  if (after === undefined) return 'removed'
  const verdicts = codings.map((column) => sizes[column].verdict)
  if (verdicts.some((verdict) => verdict === 'larger' || verdict === 'smaller')) return 'changed'
  return before.sha256 === after.sha256 && verdicts.every((verdict) => verdict === 'same') ? 'same' : 'noise'
}

/** Returns files that are new, removed or changed, ordered by the change of the sent size. */
export function changedFiles({ files }: BuildComparison): FileComparison[] {
  return files
    .filter(({ state }) => state === 'new' || state === 'removed' || state === 'changed')
    .toSorted((a, b) => weight(b) - weight(a))
}

function weight({ sizes }: FileComparison): number {
  return Math.abs(sizes.sent.bytes)
}

/** A summary of a comparison. */
export interface ComparisonSummary {
  /** The size: `sent by default: 212.40 kB, +1.20 kB (+0.6 %)` */
  readonly weight: string
  /**
   * The files: `2 files changed, 1 new, 1 removed; 12 the same, 3 noise (each below 64 B)`
   */
  readonly files: string
}

/** Summarizes a comparison. */
export function summarizeComparison(comparison: BuildComparison): ComparisonSummary {
  const { noise, totals, files } = comparison
  const { sent } = totals.total
  const count = (state: FileState): number => files.filter((file) => file.state === state).length
  const ofNoise = count('noise') > 0 ? `, ${count('noise')} noise (each below ${noise.bytes} B)` : ''
  return {
    weight: `sent by default: ${formatSize(sent.after)}, ${formatChange(sent)}`,
    files: `${pluralize(count('changed'), 'file')} changed, ${groupDigits(count('new'))} new, ${groupDigits(count('removed'))} removed; ${groupDigits(count('same'))} the same${ofNoise}`,
  }
}
