import { codingsOf } from '../builds/codings-of.ts'
import { changedFiles } from '../compare/changed-files.ts'
import type { BuildComparison, FileComparison } from '../compare/compare-builds.ts'
import { type Colors, createColors } from './create-colors.ts'
import { fileKinds } from '../builds/file-kind.ts'
import { formatByteChange, formatCount, formatKilobytes, formatPercent } from '../builds/format-bytes.ts'
import { pathCell } from './path-cell.ts'
import type { SizeChange, SizeChanges } from '../compare/size-change.ts'
import type { Coding } from '../builds/sizes.ts'
import { summarizeComparison } from '../compare/summarize-comparison.ts'
import { layOutTable, type TextCell, textCell } from './text-table.ts'

/** How the table of two builds is drawn. */
export interface FormatComparisonTableOptions {
  /** Whether to colour it with ANSI escapes. */
  readonly colors: boolean
  /**
   * Files that get rows of their own, those first that change most of what is sent.
   *
   * @default 20
   */
  readonly mostFiles?: number
}

/**
 * The table of two builds: what is new, removed or changed in every coding, the totals per kind that
 * changed, and a summary. Files that are the same or noise are counted only. No line feed at the end.
 */
export function formatComparisonTable(
  comparison: BuildComparison,
  options: FormatComparisonTableOptions,
): string {
  const { mostFiles = 20 } = options
  const colors = createColors(options.colors)
  const changed = changedFiles(comparison)
  const shown = changed.slice(0, mostFiles)
  const { totals } = comparison
  const all = [...comparison.before.files, ...comparison.after.files]
  const columns = codingsOf(all)
  const kinds = fileKinds.filter((kind) => columns.some((column) => totals[kind][column].bytes !== 0))
  const rows = [
    ['', '', 'before', 'after', 'change', ''].map((text) => textCell(text, colors.dim)),
    ...shown.flatMap((file) =>
      changeRows(labelOf(file, colors), file.sizes, {
        columns: codingsOf([file.before, file.after]),
        colors,
      }),
    ),
    [],
    ...kinds.flatMap((kind) => changeRows(textCell(`total ${kind}`), totals[kind], { columns, colors })),
    ...changeRows(textCell('total', colors.bold), totals.total, { columns, colors }),
  ]
  const summary = summarizeComparison(comparison)
  const hidden = changed.length - shown.length
  return [
    ...layOutTable(rows, 2),
    ...(hidden > 0 ? [colors.dim(`and ${formatCount(hidden, 'smaller change')}`)] : []),
    styleOf(totals.total.sent, colors)(summary.weight),
    colors.dim(summary.files),
  ].join('\n')
}

function labelOf({ name, kind, state }: FileComparison, colors: Colors): TextCell {
  const path = pathCell(name, kind, colors)
  if (state !== 'new' && state !== 'removed') return path
  return { text: `${path.text} ${colors.yellow(state)}`, width: path.width + 1 + state.length }
}

interface TableStyle {
  readonly columns: readonly Coding[]
  readonly colors: Colors
}

function changeRows(label: TextCell, sizes: SizeChanges, { columns, colors }: TableStyle): TextCell[][] {
  return columns.map((column, index) => {
    const { before, after, bytes, percent } = sizes[column]
    const style = styleOf(sizes[column], colors)
    return [
      index === 0 ? label : textCell(''),
      textCell(column === 'identity' ? 'size' : column, colors.dim),
      textCell(formatKilobytes(before), colors.dim),
      textCell(formatKilobytes(after)),
      textCell(bytes === 0 ? '' : formatByteChange(bytes), style),
      textCell(bytes === 0 || percent === undefined ? '' : formatPercent(percent), style),
    ]
  })
}

function styleOf({ verdict }: SizeChange, colors: Colors): (text: string) => string {
  if (verdict === 'larger') return colors.red
  return verdict === 'smaller' ? colors.green : colors.dim
}
