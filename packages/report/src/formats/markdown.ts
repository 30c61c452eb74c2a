import { escapeInvisible } from '@serve-dist/foundation/text/escape-invisible'
import { formatCount } from '../builds/format-values.ts'
import type { SizeColumn } from '../builds/sizes.ts'

/** What a table in Markdown weighs, in the order of its columns. */
export const markdownColumns: readonly SizeColumn[] = ['identity', 'gzip', 'br', 'zstd', 'sent']

/** One row, already in Markdown: its label and a cell for each column. */
export type MarkdownRow = readonly [label: string, ...cells: string[]]

/** A table, the first column with text and the others with sizes. */
export interface MarkdownTable {
  /** @default those of sizes, the first 'file' */
  readonly heads?: readonly string[] | undefined
  readonly rows: readonly MarkdownRow[]
}

/** Text that GitHub's Markdown shows as it is, whatever stands in it. */
export function escapeMarkdown(text: string): string {
  // What remains never means anything in the middle of a line, but for `www.`, which GitHub links.
  return escapeInvisible(text)
    .replaceAll(/[^\p{L}\p{N} /.,;()%+='-]/gu, (character) => `&#${character.codePointAt(0) ?? 0};`)
    .replaceAll(/(?<=www)\./gi, '&#46;')
}

/** A name in the fixed-width type, in which GitHub neither links nor notifies anybody. */
export function markdownCode(text: string): string {
  return `<code>${escapeMarkdown(text)}</code>`
}

/** The heads of a table of sizes. */
export function sizeHeads(first: string): readonly string[] {
  return [first, ...markdownColumns.map((column) => (column === 'identity' ? 'size' : column))]
}

/** A table of sizes. */
export function markdownTable({ heads = sizeHeads('file'), rows }: MarkdownTable): string {
  const lines = [heads, [':--', ...heads.slice(1).map(() => '--:')], ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** The first `mostRows` rows as a table under a title that unfolds; empty where there are none. */
export function markdownSection(title: string, { heads, rows }: MarkdownTable, mostRows: number): string {
  if (rows.length === 0) return ''
  const hidden = rows.length - mostRows
  const blocks = [
    `<details><summary>${title}</summary>`,
    mostRows > 0 ? markdownTable({ heads, rows: rows.slice(0, mostRows) }) : '',
    hidden > 0 ? `…and ${formatCount(hidden, 'more file')}.` : '',
    '</details>',
  ]
  return joinBlocks(blocks)
}

/** Blocks with an empty line between them, without those that are empty. */
export function joinBlocks(blocks: readonly string[]): string {
  return blocks.filter((block) => block !== '').join('\n\n')
}
