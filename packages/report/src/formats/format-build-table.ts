import type { Manifest, ManifestFile } from '@serve-dist/manifest'
import { codingsOf } from '../builds/codings-of.ts'
import { type Colors, createColors } from './create-colors.ts'
import { describePreference } from './describe-preference.ts'
import { fileKindOf } from '../builds/file-kind.ts'
import { formatByteChange, formatCount, formatKilobytes } from '../builds/format-bytes.ts'
import { pathCell } from './path-cell.ts'
import { preferenceCost } from '../builds/preference-cost.ts'
import {
  type BuildServing,
  type Coding,
  hasVariant,
  sentCoding,
  sizesOf,
  smallestCoding,
  sumSizes,
} from '../builds/sizes.ts'
import { layOutTable, type TextCell, textCell } from './text-table.ts'

/** How the table of one build is drawn. */
export interface FormatBuildTableOptions {
  /** Whether to colour it with ANSI escapes; in bold what is sent by default, underlined the smallest. */
  readonly colors: boolean
  /**
   * What stands before every path, such as `dist/`.
   *
   * @default ''
   */
  readonly prefix?: string
  /**
   * Files with variants that get a row of their own, the largest; the others share one.
   *
   * @default 40
   */
  readonly mostRows?: number
}

/**
 * The table of one build, like Vite's own: each file as it is and in each coding that the build has, what is
 * sent by default and what `prefer: 'smallest'` would send in its place, the total, and what the default
 * order costs. Files without variants share one row. In kB of 1,000 bytes; no line feed at the end.
 */
export function formatBuildTable(
  build: Pick<Manifest, 'files' | 'serving'>,
  options: FormatBuildTableOptions,
): string {
  const { files } = build
  const { prefix = '', mostRows = 40 } = options
  const colors = createColors(options.colors)
  if (files.length === 0) return colors.dim('no files')
  const columns = codingsOf(files)
  const style: TableStyle = { build, columns, colors }
  const withVariants = files.filter(({ variants }) => variants.length > 0)
  const shown = new Set(withVariants.toSorted((a, b) => b.size - a.size).slice(0, mostRows))
  const hidden = withVariants.filter((file) => !shown.has(file))
  const plain = files.filter(({ variants }) => variants.length === 0)
  const head = ['', 'size', ...columns.slice(1), ...(columns.length > 1 ? ['sent', 'smallest'] : [])]
  const rows = [
    head.map((text) => textCell(text, colors.dim)),
    ...[...shown].toReversed().map((file) => fileRow(prefix, file, style)),
    ...sumRow(`${formatCount(hidden.length, 'more file')} with variants`, hidden, style),
    ...sumRow(`${formatCount(plain.length, 'file')} without variants`, plain, {
      ...style,
      columns: ['identity'],
    }),
    ...sumRow(`total of ${formatCount(files.length, 'file')}`, files, style).map((row) =>
      row.map(({ text, width }) => ({ text: colors.bold(text), width })),
    ),
  ]
  const preference = describePreference(preferenceCost(build))
  return [...layOutTable(rows), ...(preference === undefined ? [] : [colors.dim(preference)])].join('\n')
}

interface TableStyle {
  readonly build: BuildServing
  readonly columns: readonly Coding[]
  readonly colors: Colors
}

function fileRow(prefix: string, file: ManifestFile, { build, columns, colors }: TableStyle): TextCell[] {
  const sizes = sizesOf(file, build)
  const sent = sentCoding(file, build)
  const smallest = smallestCoding(file)
  const saving = sizes.smallest - sizes.sent
  return [
    pathCell(prefix + file.path, fileKindOf(file), colors),
    ...columns.map((coding) => {
      const isThere = coding === 'identity' || hasVariant(file, coding)
      return textCell(isThere ? formatKilobytes(sizes[coding]) : '–', (text) => {
        const underlined = coding === smallest ? colors.underline(text) : text
        if (coding === sent) return colors.bold(underlined)
        return coding === 'identity' ? underlined : colors.dim(underlined)
      })
    }),
    textCell(sent),
    textCell(saving < 0 ? `${smallest} ${formatByteChange(saving)}` : smallest, colors.dim),
  ]
}

/** What the files weigh together, in each coding where they have it and as they are where not. */
function sumRow(
  label: string,
  files: readonly ManifestFile[],
  { build, columns, colors }: TableStyle,
): TextCell[][] {
  if (files.length === 0) return []
  const sums = sumSizes(files.map((file) => sizesOf(file, build)))
  const saving = sums.smallest - sums.sent
  return [
    [
      textCell(label, colors.dim),
      ...columns.map((coding) =>
        textCell(formatKilobytes(sums[coding]), coding === 'identity' ? String : colors.dim),
      ),
      ...(columns.length > 1
        ? [textCell(formatKilobytes(sums.sent)), textCell(saving < 0 ? formatByteChange(saving) : '')]
        : []),
    ],
  ]
}
