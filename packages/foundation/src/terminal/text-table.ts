import { styleText } from 'node:util'
import widthOf from 'fast-string-truncated-width'

type Style = 'bold' | 'cyan' | 'dim' | 'green' | 'magenta' | 'red' | 'underline' | 'yellow'

/** What stands in one place of a table: texts, each in its own style. */
export type Cell = readonly { readonly text: string; readonly styles: readonly Style[] }[]

/** How a table is drawn. */
export interface TableOptions {
  /** Whether to colour it with ANSI escapes. */
  readonly colors: boolean
  /** Columns that are aligned to the left, the first ones. @default 1 */
  readonly leftColumns?: number
}

/** A cell of one text. */
export function cell(text: string, ...styles: readonly Style[]): Cell {
  return [{ text, styles }]
}

/** Styles a text with ANSI escapes where `colors` says so, whatever the streams of this process are. */
export function paint(colors: boolean, text: string, ...styles: readonly Style[]): string {
  return colors && text !== '' ? styleText([...styles], text, { validateStream: false }) : text
}

/** Aligns rows by the visible width of their cells, a line each. */
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

function widthOfCell(parts: Cell): number {
  return parts.reduce((sum, { text }) => sum + widthOf(text).width, 0)
}
