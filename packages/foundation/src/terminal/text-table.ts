import { styleText } from 'node:util'
import widthOf from 'fast-string-truncated-width'

type Style = 'bold' | 'cyan' | 'dim' | 'green' | 'magenta' | 'red' | 'underline' | 'yellow'

/** A table cell: texts with their styles. */
export type Cell = readonly { readonly text: string; readonly styles: readonly Style[] }[]

/** Options of a table. */
export interface TableOptions {
  /** Whether to use ANSI colours. */
  readonly colors: boolean
  /** The number of left-aligned columns at the start. @default 1 */
  readonly leftColumns?: number
}

/** Creates a cell with one text. */
export function cell(text: string, ...styles: readonly Style[]): Cell {
  return [{ text, styles }]
}

/** Styles a text with ANSI escapes if `colors` is true, independent of the streams of this process. */
export function paint(colors: boolean, text: string, ...styles: readonly Style[]): string {
  return colors && text !== '' ? styleText([...styles], text, { validateStream: false }) : text
}

/** Formats rows as lines with aligned columns, by visible width. */
export function layOutTable(rows: readonly (readonly Cell[])[], options: TableOptions): string[] {
  const { colors, leftColumns = 1 } = options
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, parts] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, widthOfCell(parts))
    }
  }
  return rows.map((row) =>
    row
      .map((parts, column) => {
        const padding = ' '.repeat((widths[column] ?? 0) - widthOfCell(parts))
        const text = parts.map((part) => paint(colors, part.text, ...part.styles)).join('')
        return column < leftColumns ? text + padding : padding + text
      })
      .join('  ')
      .trimEnd(),
  )
}

/** Returns the text, or its end after `…` if the text is too wide. */
export function shortenStart(text: string, width: number): string {
  if (widthOf(text).width <= width) return text
  let end = text
  while (widthOf(end).width >= width) end = end.slice(1)
  return `…${end}`
}

function widthOfCell(parts: Cell): number {
  return parts.reduce((sum, { text }) => sum + widthOf(text).width, 0)
}
