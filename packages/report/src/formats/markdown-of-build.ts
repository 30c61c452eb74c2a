import type { Manifest } from '@serve-dist/manifest'
import { escapeMarkdown, markdownCode } from './escape-markdown.ts'
import { fileKindOf, fileKinds } from '../builds/file-kind.ts'
import { formatCount, formatKilobytes } from '../builds/format-bytes.ts'
import {
  markdownColumns,
  type MarkdownRow,
  type MarkdownStyle,
  markdownSection,
  markdownTable,
} from './markdown-table.ts'
import { type Sizes, sizesOf, sumSizes } from '../builds/sizes.ts'

/** One build in Markdown: its weight, the totals per kind, the files of each kind. */
export function markdownOfBuild(build: Manifest, { title, mostRows }: MarkdownStyle): string[] {
  const { files } = build
  const weighed = files.map((file) => ({
    path: file.path,
    kind: fileKindOf(file),
    sizes: sizesOf(file, build),
  }))
  const total = sumSizes(weighed.map(({ sizes }) => sizes))
  const groups = fileKinds.map((kind) => {
    const ofKind = weighed.filter((file) => file.kind === kind)
    return { kind, files: ofKind.toSorted((a, b) => b.sizes.sent - a.sizes.sent) }
  })
  const rows = groups.map((group) => row(group.kind, sumSizes(group.files.map(({ sizes }) => sizes))))
  return [
    `### ${escapeMarkdown(title)}: ${formatKilobytes(total.sent)} sent by default`,
    `${formatCount(files.length, 'file')}.`,
    markdownTable('', [...rows, row('**total**', total)]),
    ...groups.map((group) =>
      markdownSection(
        `${group.kind}: ${formatCount(group.files.length, 'file')}`,
        group.files.slice(0, mostRows).map(({ path, sizes }) => row(markdownCode(path), sizes)),
        group.files.length,
      ),
    ),
  ]
}

function row(label: string, sizes: Sizes): MarkdownRow {
  return { label, cells: markdownColumns.map((column) => formatKilobytes(sizes[column])) }
}
