import type { Download, Manifest } from '@serve-dist/manifest'
import { type Cell, cell, layOutTable, paint } from '@serve-dist/foundation/terminal/text-table'
import { wrapText } from '@serve-dist/foundation/terminal/wrap-text'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import type { BuildReport } from './create-report.ts'
import { describeBudget } from '../budgets/check-budgets.ts'
import { formatBytes, formatByteChange, formatSize, formatPercent } from '../builds/format-values.ts'
import { describeDownload, filesToLoad, sumSizesToLoad } from '../builds/returning-visitor.ts'
import { type Coding, codingsOf, fileKindOf, fileKinds } from '../builds/sizes.ts'
import {
  type BuildComparison,
  changedFiles,
  type FileComparison,
  summarizeComparison,
} from '../compare/compare-builds.ts'
import type { SizeChange, SizeChanges } from '../compare/size-change.ts'
import { suggestChunkImportMap } from '../compare/suggest-chunk-import-map.ts'
import { formatBuildTable } from './format-build.ts'
import { pathCell } from './path-cell.ts'

/** Options of a report for a terminal. */
export interface FormatTerminalOptions {
  /** Whether to use ANSI colours. */
  readonly colors: boolean
  /** The width of a narrow terminal. Paths are then shortened, and sentences are wrapped. */
  readonly width?: number
  /** Whether the project's Vite has the option `build.chunkImportMap`. The report may suggest it. */
  readonly hasChunkImportMap?: boolean
}

/** The maximum number of files with rows. Files with the largest change of the sent size come first. */
const mostFiles = 20

/**
 * Formats a report for a terminal: the table of the build or the changes, then the budgets. There is no line feed at
 * the end.
 */
export function formatTerminal(
  { build, comparison, download, budgets }: BuildReport,
  options: FormatTerminalOptions,
): string {
  const table =
    comparison === undefined ? formatBuildTable(build, options) : comparisonTable(comparison, options)
  const { width } = options
  const lines = budgets.map((result) => {
    const [mark, color] = result.outcome === 'within' ? (['✓', 'green'] as const) : (['✗', 'red'] as const)
    return paint(options.colors, wrapText(`${mark} ${describeBudget(result)}`, width, '  '), color)
  })
  const toLoad = download === undefined ? [] : ['', ...downloadTable(build, download, options)]
  return [table, ...toLoad, ...lines].join('\n')
}

/**
 * Formats the table of two builds: new, removed and changed files in every coding, changed totals per kind, and a
 * summary. Unchanged files and noise are only counted.
 */
function comparisonTable(
  comparison: BuildComparison,
  { colors, width, hasChunkImportMap }: FormatTerminalOptions,
): string {
  const changed = changedFiles(comparison)
  const shown = changed.slice(0, mostFiles)
  const hidden = changed.length - shown.length
  const { totals } = comparison
  const columns = codingsOf([...comparison.before.files, ...comparison.after.files])
  const kinds = fileKinds.filter((kind) => columns.some((column) => totals[kind][column].bytes !== 0))
  const rows = [
    ['', '', 'before', 'after', 'change', ''].map((text) => cell(text, 'dim')),
    ...shown.flatMap((file) => changeRows(labelOf(file), file.sizes, codingsOf([file.before, file.after]))),
    ...(hidden > 0 ? [[cell(`and ${pluralize(hidden, 'smaller change')}`, 'dim')]] : []),
    [],
    ...kinds.flatMap((kind) => changeRows(cell(`total ${kind}`), totals[kind], columns)),
    ...changeRows(cell('total', 'bold'), totals.total, columns),
  ]
  const summary = summarizeComparison(comparison)
  const suggestion = hasChunkImportMap === true ? suggestChunkImportMap(comparison) : undefined
  return [
    ...layOutTable(rows, { colors, leftColumns: 2, width }),
    paint(colors, summary.weight, styleOf(totals.total.sent)),
    paint(colors, wrapText(summary.files, width), 'dim'),
    ...(suggestion === undefined ? [] : [wrapText(suggestion, width)]),
  ].join('\n')
}

function downloadTable(
  build: Manifest,
  download: Download,
  { colors, width }: FormatTerminalOptions,
): string[] {
  const files = filesToLoad(build, download)
  const hidden = files.length - mostFiles
  const sum = sumSizesToLoad(files)
  const rows = [
    ['downloaded again', 'br', 'zstd', 'with deltas', ''].map((text) => cell(text, 'dim')),
    ...files
      .slice(0, mostFiles)
      .map(({ path, file, sizes, bytes, delta, coding }) => [
        pathCell(path, fileKindOf(file)),
        cell(formatBytes(sizes.br), 'dim'),
        cell(formatBytes(sizes.zstd), 'dim'),
        cell(formatBytes(delta ?? bytes), ...(delta === undefined ? [] : (['green'] as const))),
        cell(coding ?? 'none', 'dim'),
      ]),
    ...(hidden > 0 ? [[cell(`and ${pluralize(hidden, 'more file')}`, 'dim')]] : []),
    [
      cell(`total of ${pluralize(files.length, 'file')}`, 'bold'),
      cell(formatBytes(sum.br)),
      cell(formatBytes(sum.zstd)),
      cell(formatBytes(download.bytesWithDeltas ?? download.bytes), 'bold'),
    ],
  ]
  return [
    ...(files.length === 0 ? [] : layOutTable(rows, { colors, width })),
    wrapText(describeDownload(build, download), width),
  ]
}

function labelOf({ name, kind, state }: FileComparison): Cell {
  const path = pathCell(name, kind)
  return state === 'new' || state === 'removed' ? [...path, ...cell(' '), ...cell(state, 'yellow')] : path
}

function changeRows(label: Cell, sizes: SizeChanges, columns: readonly Coding[]): Cell[][] {
  return columns.map((column, index) => {
    const { before, after, bytes, percent } = sizes[column]
    const style = styleOf(sizes[column])
    return [
      index === 0 ? label : cell(''),
      cell(column === 'identity' ? 'size' : column, 'dim'),
      cell(formatSize(before), 'dim'),
      cell(formatSize(after)),
      cell(bytes === 0 ? '' : formatByteChange(bytes), style),
      cell(bytes === 0 || percent === undefined ? '' : formatPercent(percent), style),
    ]
  })
}

function styleOf({ verdict }: SizeChange): 'red' | 'green' | 'dim' {
  if (verdict === 'larger') return 'red'
  return verdict === 'smaller' ? 'green' : 'dim'
}
