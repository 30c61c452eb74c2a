import { escapeInvisible } from '@serve-dist/foundation/text/escape-invisible'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import type { SizeColumn } from '../builds/sizes.ts'

/** The sizes in a Markdown table, in the order of its columns. */
export const markdownColumns: readonly SizeColumn[] = ['identity', 'gzip', 'br', 'zstd', 'sent']

/** One row in Markdown: its label and a cell for each column. */
export type MarkdownRow = readonly [label: string, ...cells: string[]]

/** A table with text in the first column and sizes in the others. */
export interface MarkdownTable {
  /** The headings. @default 'file' and the names of the sizes */
  readonly heads?: readonly string[] | undefined
  readonly rows: readonly MarkdownRow[]
}

/** Escapes text so that GitHub's Markdown shows it literally. */
export function escapeMarkdown(text: string): string {
  // The allowed characters have no meaning in the middle of a line. The exception is `www.`, which GitHub links.
  return escapeInvisible(text)
    .replaceAll(/[^\p{L}\p{N} /.,;()%+='-]/gu, (character) => `&#${character.codePointAt(0) ?? 0};`)
    .replaceAll(/(?<=www)\./gi, '&#46;')
}

/** Formats a name in a fixed-width font. GitHub creates no link and no mention in it. */
export function markdownCode(text: string): string {
  return `<code>${escapeMarkdown(text)}</code>`
}

/** Returns the headings of a table of sizes. */
export function sizeHeads(first: string): readonly string[] {
  return [first, ...markdownColumns.map((column) => (column === 'identity' ? 'size' : column))]
}

/** Formats a table of sizes. */
export function markdownTable({ heads = sizeHeads('file'), rows }: MarkdownTable): string {
  const lines = [heads, [':--', ...heads.slice(1).map(() => '--:')], ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** Formats up to `mostRows` rows as a collapsed section. Returns an empty text if there are no rows. */
export function markdownSection(title: string, { heads, rows }: MarkdownTable, mostRows: number): string {
  if (rows.length === 0) return ''
  const hidden = rows.length - mostRows
  const blocks = [
    `<details><summary>${title}</summary>`,
    mostRows > 0 ? markdownTable({ heads, rows: rows.slice(0, mostRows) }) : '',
    hidden > 0 ? `…and ${pluralize(hidden, 'more file')}.` : '',
    '</details>',
  ]
  return joinBlocks(blocks)
}

/** Joins the blocks that are not empty with an empty line between them. */
export function joinBlocks(blocks: readonly string[]): string {
  return blocks.filter((block) => block !== '').join('\n\n')
}
