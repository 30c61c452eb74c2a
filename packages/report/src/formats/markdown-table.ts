import { formatCount } from '../builds/format-bytes.ts'
import type { SizeColumn } from '../builds/sizes.ts'

/** What a table in Markdown weighs, in the order of its columns. */
export const markdownColumns: readonly SizeColumn[] = ['identity', 'gzip', 'br', 'zstd', 'sent']

/** One row, already in Markdown. */
export interface MarkdownRow {
  readonly label: string
  /** One for each of `markdownColumns`. */
  readonly cells: readonly string[]
}

/** What a report in Markdown is called, and how many files of a kind get a row. */
export interface MarkdownStyle {
  readonly title: string
  readonly mostRows: number
}

/** A table of sizes. */
export function markdownTable(head: string, rows: readonly MarkdownRow[]): string {
  const names = markdownColumns.map((column) => (column === 'identity' ? 'size' : column))
  const lines = [{ label: head, cells: names }, { label: ':--', cells: names.map(() => '--:') }, ...rows]
  return lines.map(({ label, cells }) => `| ${label} | ${cells.join(' | ')} |`).join('\n')
}

/** A table under a title that unfolds, `files` being how many rows there would be; empty when there are none. */
export function markdownSection(title: string, rows: readonly MarkdownRow[], files: number): string {
  if (files === 0) return ''
  const hidden = files - rows.length
  const blocks = [
    `<details><summary>${title}</summary>`,
    rows.length > 0 ? markdownTable('file', rows) : '',
    hidden > 0 ? `…and ${formatCount(hidden, 'more file')}.` : '',
    '</details>',
  ]
  return blocks.filter((block) => block !== '').join('\n\n')
}
