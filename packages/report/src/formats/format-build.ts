import { basename } from 'node:path'
import { wrapText } from '@serve-dist/foundation/terminal/wrap-text'
import { joinFirstNames } from '@serve-dist/foundation/text/join-first-names'
import { type Manifest, type ManifestFile, servedFiles } from '@serve-dist/manifest'
import { type Cell, cell, layOutTable, paint } from '@serve-dist/foundation/terminal/text-table'
import { groupDigits } from '@serve-dist/foundation/text/group-digits'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { formatByteChange, formatSize } from '../builds/format-values.ts'
import { describePreference, preferenceCost } from '../builds/preference-cost.ts'
import {
  type BuildServing,
  type Coding,
  codingsOf,
  fileKindOf,
  hasVariant,
  sentCoding,
  sizesOf,
  smallestCoding,
  sumSizes,
} from '../builds/sizes.ts'
import { pathCell } from './path-cell.ts'

/** Options of the table of one build. */
export interface FormatBuildTableOptions {
  /** Whether to use ANSI colours. The sent size is bold and the smallest is underlined. */
  readonly colors: boolean
  /**
   * The prefix of every path, for example `dist/`.
   *
   * @default ''
   */
  readonly prefix?: string
  /**
   * The maximum number of rows for files with variants. One more row contains the total of the others.
   *
   * @default 40
   */
  readonly rows?: number
  /** The maximum width. The table then shortens paths, and has no columns for the sent and the smallest coding. */
  readonly width?: number
}

/** The result of a compression step, as returned by `precompress`. */
export interface FinishedPass {
  readonly directory: string
  readonly manifest: Manifest
  readonly written: readonly string[]
  readonly removed: readonly string[]
  readonly cacheHits: number
  readonly durationMs: number
  /** The sources that the build adds to its content security policy, with the reasons. */
  readonly policyNeeds?: readonly PolicyNeed[]
}

interface PolicyNeed {
  readonly directive: string
  readonly source: string
  readonly reason: string
}

/** Formats the result of a compression step: the table of the build and one line about the work. */
export function formatPass(pass: FinishedPass, { colors }: { readonly colors: boolean }): string {
  const { directory, manifest, written, removed, cacheHits, durationMs } = pass
  const files = servedFiles(manifest)
  const variants = files.reduce((sum, file) => sum + file.variants.length, 0)
  const counts = `✓ ${pluralize(files.length, 'file')}, ${pluralize(variants, 'variant')}`
  const isUnchanged = written.length + removed.length === 0
  const reused = cacheHits > 0 ? ` (${groupDigits(cacheHits)} from the cache)` : ''
  const deleted = removed.length > 0 ? `, ${groupDigits(removed.length)} removed` : ''
  const duration = durationMs < 1000 ? `${Math.round(durationMs)}ms` : `${(durationMs / 1000).toFixed(2)}s`
  const prefix = `${basename(directory)}/`
  const table = formatBuildTable(manifest, { colors, prefix, rows: 10, width: 80 })
  const work = `${isUnchanged ? ' (nothing changed)' : reused}${deleted} in ${duration}`
  return `${table}\n${describeNeeds(pass.policyNeeds ?? [])}${paint(colors, counts, 'green')}${paint(colors, work, 'dim')}`
}

function describeNeeds(needs: readonly PolicyNeed[]): string {
  const sourcesOf = new Map<string, Map<string, string[]>>()
  for (const { directive, source, reason } of needs) {
    const directives = sourcesOf.get(reason) ?? new Map<string, string[]>()
    sourcesOf.set(reason, directives.set(directive, [...(directives.get(directive) ?? []), source]))
  }
  const reasonsOf = new Map<string, string[]>()
  for (const [reason, directives] of sourcesOf) {
    const addition = Array.from(directives, ([name, sources]) => [name, ...new Set(sources)].join(' '))
    reasonsOf.set(addition.join('; '), [...(reasonsOf.get(addition.join('; ')) ?? []), reason])
  }
  return Array.from(
    reasonsOf,
    ([addition, reasons]) => `csp adds ${addition} (${joinFirstNames(reasons)})\n`,
  ).join('')
}

/**
 * Formats the table of one build, similar to Vite's. It has the sizes of each file in each coding, the coding that is
 * sent by default, and the smallest coding. The total and the cost of the default order follow. Files without variants
 * share one row, and the next row has the largest of them. Sizes are in kB of 1,000 bytes. There is no line feed at the
 * end.
 */
export function formatBuildTable(
  build: Pick<Manifest, 'files' | 'serving'>,
  options: FormatBuildTableOptions,
): string {
  const files = servedFiles(build)
  const { colors, prefix = '', rows: mostRows = 40, width } = options
  if (files.length === 0) return paint(colors, 'no files', 'dim')
  const columns = codingsOf(files)
  const withVariants = files.filter(({ variants }) => variants.length > 0)
  const shown = new Set(withVariants.toSorted((a, b) => b.size - a.size).slice(0, mostRows))
  const hidden = withVariants.filter((file) => !shown.has(file))
  const plain = files.filter(({ variants }) => variants.length === 0)
  const hasChoice = columns.length > 1 && width === undefined
  const head = ['', 'size', ...columns.slice(1), ...(hasChoice ? ['sent', 'smallest'] : [])]
  const rows = [
    head.map((text) => cell(text, 'dim')),
    ...[...shown].toReversed().map((file) => fileRow(prefix + file.path, file, { build, columns })),
    ...sumRow(`${pluralize(hidden.length, 'more file')} with variants`, hidden, { build, columns }),
    ...sumRow(`${pluralize(plain.length, 'file')} without variants`, plain, {
      build,
      columns: ['identity'],
    }),
    ...plain
      .toSorted((a, b) => b.size - a.size)
      .slice(0, 1)
      .map((file) => [
        [...pathCell(prefix + file.path, fileKindOf(file)), ...cell(' (largest)', 'dim')],
        cell(formatSize(file.size)),
      ]),
    ...sumRow(`total of ${pluralize(files.length, 'file')}`, files, { build, columns }).map((row) =>
      row.map((parts) => parts.map(({ text, styles }) => ({ text, styles: ['bold' as const, ...styles] }))),
    ),
  ].map((row) => row.slice(0, head.length))
  const preference = describePreference(preferenceCost(build))
  const lines = layOutTable(rows, { colors, width })
  return [
    ...lines,
    ...(preference === undefined ? [] : [paint(colors, wrapText(preference, width), 'dim')]),
  ].join('\n')
}

interface TableColumns {
  readonly build: BuildServing
  readonly columns: readonly Coding[]
}

function fileRow(path: string, file: ManifestFile, { build, columns }: TableColumns): Cell[] {
  const sizes = sizesOf(file, build)
  const sent = sentCoding(file, build)
  const smallest = smallestCoding(file)
  const saving = sizes.smallest - sizes.sent
  return [
    pathCell(path, fileKindOf(file)),
    ...columns.map((coding) => {
      const isThere = coding === 'identity' || hasVariant(file, coding)
      const weight = coding === sent ? (['bold'] as const) : coding === 'identity' ? [] : (['dim'] as const)
      const styles = [...weight, ...(coding === smallest ? (['underline'] as const) : [])]
      return cell(isThere ? formatSize(sizes[coding]) : '–', ...styles)
    }),
    cell(sent),
    cell(saving < 0 ? `${smallest} ${formatByteChange(saving)}` : smallest, 'dim'),
  ]
}

/** Returns the row with the total of files. Files without a variant count with their uncompressed size. */
function sumRow(label: string, files: readonly ManifestFile[], { build, columns }: TableColumns): Cell[][] {
  if (files.length === 0) return []
  const sums = sumSizes(files.map((file) => sizesOf(file, build)))
  const saving = sums.smallest - sums.sent
  const sent = [cell(formatSize(sums.sent)), cell(saving < 0 ? formatByteChange(saving) : '')]
  return [
    [
      cell(label, 'dim'),
      ...columns.map((coding) =>
        cell(formatSize(sums[coding]), ...(coding === 'identity' ? [] : (['dim'] as const))),
      ),
      ...(columns.length > 1 ? sent : []),
    ],
  ]
}
