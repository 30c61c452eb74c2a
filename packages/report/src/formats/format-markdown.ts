import { pluralize } from '@serve-dist/foundation/text/pluralize'
import type { Download, Manifest } from '@serve-dist/manifest'
import { describeBudget } from '../budgets/check-budgets.ts'
import { formatBytes, formatChange, formatSize } from '../builds/format-values.ts'
import { describeDownload, filesToLoad } from '../builds/returning-visitor.ts'
import { describePreference, preferenceCost } from '../builds/preference-cost.ts'
import { fileKindOf, fileKinds, type Sizes, sizesOf, sumSizes } from '../builds/sizes.ts'
import {
  type BuildComparison,
  changedFiles,
  type FileState,
  summarizeComparison,
} from '../compare/compare-builds.ts'
import type { SizeChange, SizeChanges } from '../compare/size-change.ts'
import { type BuildReport, defaultTitle } from './create-report.ts'
import {
  escapeMarkdown,
  joinBlocks,
  markdownCode,
  markdownColumns,
  type MarkdownRow,
  markdownSection,
  markdownTable,
  sizeHeads,
} from './markdown.ts'

/**
 * The maximum number of bytes of a comment. GitHub rejects more than 65,536 characters, and our workflow truncates longer
 * comments to 65,536 bytes.
 */
const longestComment = 60_000

/**
 * Formats a report as a comment for a pull request: the total change, totals per kind, collapsed sections with files,
 * and budgets. It marks files that are larger (🔺), smaller (✅), new (🆕) and removed (🗑️). The text is short enough for
 * GitHub and ends with a line feed.
 */
export function formatMarkdown(report: BuildReport): string {
  for (const mostRows of [50, 10]) {
    const text = write(report, mostRows)
    if (Buffer.byteLength(text) <= longestComment) return text
  }
  return write(report, 0)
}

function write({ title, build, comparison, download, budgets }: BuildReport, mostRows: number): string {
  const cost = describePreference(preferenceCost(build))
  const blocks = [
    marker(title),
    ...(comparison === undefined
      ? blocksOfBuild(build, { title, mostRows })
      : blocksOfComparison(comparison, { title, mostRows })),
    download === undefined ? '' : blockOfDownload(build, { download, mostRows }),
    budgets
      .map((result) => {
        return `- ${result.outcome === 'within' ? '✅' : '❌'} ${escapeMarkdown(describeBudget(result))}`
      })
      .join('\n'),
    cost === undefined ? '' : `<sub>${escapeMarkdown(cost)}</sub>`,
  ]
  return `${joinBlocks(blocks)}\n`
}

/**
 * Returns the first line, which is an HTML comment. A bot finds its own comment by it and updates it. Each title has
 * its own marker, and all markers start with `<!-- serve-dist report`.
 */
function marker(title: string): string {
  // The title must not end the HTML comment.
  const name = title.replaceAll(/[^\p{L}\p{N}_./]+/gu, ' ').trim()
  return title === defaultTitle ? '<!-- serve-dist report -->' : `<!-- serve-dist report: ${name} -->`
}

interface MarkdownStyle {
  readonly title: string
  /** The maximum number of rows per kind. */
  readonly mostRows: number
}

function blocksOfBuild(build: Manifest, { title, mostRows }: MarkdownStyle): string[] {
  const weighed = build.files
    .map((file) => ({ path: file.path, kind: fileKindOf(file), sizes: sizesOf(file, build) }))
    .toSorted((a, b) => b.sizes.sent - a.sizes.sent)
  const total = sumSizes(weighed.map(({ sizes }) => sizes))
  const groups = fileKinds.map((kind) => ({ kind, files: weighed.filter((file) => file.kind === kind) }))
  const rows = groups.map(({ kind, files }) => sizeRow(kind, sumSizes(files.map(({ sizes }) => sizes))))
  return [
    `### ${escapeMarkdown(title)}: ${formatSize(total.sent)} sent by default`,
    `${pluralize(build.files.length, 'file')}.`,
    markdownTable({ heads: sizeHeads(''), rows: [...rows, sizeRow('**total**', total)] }),
    ...groups.map(({ kind, files }) =>
      markdownSection(
        `${kind}: ${pluralize(files.length, 'file')}`,
        { rows: files.map(({ path, sizes }) => sizeRow(markdownCode(path), sizes)) },
        mostRows,
      ),
    ),
  ]
}

function sizeRow(label: string, sizes: Sizes): MarkdownRow {
  return [label, ...markdownColumns.map((column) => formatSize(sizes[column]))]
}

function blocksOfComparison(comparison: BuildComparison, { title, mostRows }: MarkdownStyle): string[] {
  const { totals } = comparison
  const { weight, files } = summarizeComparison(comparison)
  const changed = changedFiles(comparison)
  const rows = fileKinds.map((kind) => changeRow(kind, totals[kind]))
  return [
    `### ${markOf(totals.total.sent)}${escapeMarkdown(title)}: ${formatChange(totals.total.sent)}`,
    `**${weight}.** ${files}.`,
    markdownTable({ heads: sizeHeads(''), rows: [...rows, changeRow('**total**', totals.total)] }),
    ...fileKinds.map((kind) => {
      const { sent } = totals[kind]
      const ofKind = changed.filter((file) => file.kind === kind)
      return markdownSection(
        `${markOf(sent)}${kind}: ${pluralize(ofKind.length, 'file')} changed, ${formatChange(sent)} sent`,
        {
          rows: ofKind.map(({ name, state, sizes }) =>
            changeRow(stateMark(state) + markdownCode(name), sizes),
          ),
        },
        mostRows,
      )
    }),
  ]
}

function changeRow(label: string, sizes: SizeChanges): MarkdownRow {
  const cells = markdownColumns.map((column) => {
    const size = formatSize(sizes[column].after)
    const isChanged = sizes[column].bytes !== 0
    return isChanged ? `${size}<br>${markOf(sizes[column])}${formatChange(sizes[column])}` : size
  })
  return [label, ...cells]
}

function blockOfDownload(
  build: Manifest,
  { download, mostRows }: { readonly download: Download; readonly mostRows: number },
): string {
  const rows = filesToLoad(build, download).map(({ path, sizes, bytes, delta, coding }): MarkdownRow => {
    const withDelta = `${formatBytes(delta ?? bytes)}${coding === undefined ? '' : ` ${coding}`}`
    return [markdownCode(path), formatBytes(sizes.br), formatBytes(sizes.zstd), withDelta]
  })
  const heads = ['file', 'br', 'zstd', 'with deltas']
  const summary = escapeMarkdown(describeDownload(build, download))
  return rows.length === 0 ? summary : markdownSection(summary, { heads, rows }, mostRows)
}

function stateMark(state: FileState): string {
  if (state === 'new') return '🆕 new '
  return state === 'removed' ? '🗑️ removed ' : ''
}

function markOf({ verdict }: SizeChange): string {
  if (verdict === 'larger') return '🔺 '
  return verdict === 'smaller' ? '✅ ' : ''
}
