import { changedFiles } from '../compare/changed-files.ts'
import type { BuildComparison, FileState } from '../compare/compare-builds.ts'
import { escapeMarkdown, markdownCode } from './escape-markdown.ts'
import { fileKinds } from '../builds/file-kind.ts'
import { formatCount, formatKilobytes } from '../builds/format-bytes.ts'
import {
  markdownColumns,
  type MarkdownRow,
  type MarkdownStyle,
  markdownSection,
  markdownTable,
} from './markdown-table.ts'
import type { SizeChange, SizeChanges } from '../compare/size-change.ts'
import { formatChange, summarizeComparison } from '../compare/summarize-comparison.ts'

/** Two builds in Markdown: what changed in all, the totals per kind, the changed files of each kind. */
export function markdownOfComparison(
  comparison: BuildComparison,
  { title, mostRows }: MarkdownStyle,
): string[] {
  const { totals } = comparison
  const { weight, files } = summarizeComparison(comparison)
  const changed = changedFiles(comparison)
  return [
    `### ${markOf(totals.total.sent)}${escapeMarkdown(title)}: ${formatChange(totals.total.sent)}`,
    `**${weight}.** ${files}.`,
    markdownTable('', [...fileKinds.map((kind) => row(kind, totals[kind])), row('**total**', totals.total)]),
    ...fileKinds.map((kind) => {
      const ofKind = changed.filter((file) => file.kind === kind)
      return markdownSection(
        `${markOf(totals[kind].sent)}${kind}: ${formatCount(ofKind.length, 'file')} changed, ${formatChange(totals[kind].sent)} sent`,
        ofKind
          .slice(0, mostRows)
          .map(({ name, state, sizes }) => row(stateMark(state) + markdownCode(name), sizes)),
        ofKind.length,
      )
    }),
  ]
}

function row(label: string, sizes: SizeChanges): MarkdownRow {
  const cells = markdownColumns.map((column) => {
    const size = formatKilobytes(sizes[column].after)
    const isChanged = sizes[column].bytes !== 0
    return isChanged ? `${size}<br>${markOf(sizes[column])}${formatChange(sizes[column])}` : size
  })
  return { label, cells }
}

function stateMark(state: FileState): string {
  if (state === 'new') return '🆕 new '
  return state === 'removed' ? '🗑️ removed ' : ''
}

function markOf({ verdict }: SizeChange): string {
  if (verdict === 'larger') return '🔺 '
  return verdict === 'smaller' ? '✅ ' : ''
}
