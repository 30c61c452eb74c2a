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
  /** The maximum width. If the table is wider, texts of the first column lose their start. */
  readonly width?: number | undefined
}

/** The minimum width of the first column, for labels such as `1,000 files without variants`. */
const leastWidth = 28

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
  const { colors, leftColumns = 1, width = Infinity } = options
  const widths: number[] = []
  for (const row of rows) {
    for (const [column, parts] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, widthOfCell(parts))
    }
  }
  const [first = 0, ...others] = widths
  const room = others.reduce((left, each) => left - each - 2, width)
  const firstWidth = Math.min(first, Math.max(room, leastWidth))
  widths[0] = firstWidth
  return rows.map((row) =>
    row
      .map((given, column) => {
        const parts = column === 0 ? shortenStart(given, firstWidth) : given
        const padding = ' '.repeat((widths[column] ?? 0) - widthOfCell(parts))
        const text = parts.map((part) => paint(colors, part.text, ...part.styles)).join('')
        return column < leftColumns ? text + padding : padding + text
      })
      .join('  ')
      .trimEnd(),
  )
}

/** Returns the cell, or its end after `…` if it is too wide. */
function shortenStart(parts: Cell, width: number): Cell {
  if (widthOfCell(parts) <= width) return parts
  let room = width - 1
  const end = parts.toReversed().map(({ text, styles }) => {
    let rest = text
    while (widthOf(rest).width > room) rest = rest.slice(1)
    room = rest === text ? room - widthOf(rest).width : 0
    return { text: rest, styles }
  })
  return [...cell('…', 'dim'), ...end.toReversed()]
}

function widthOfCell(parts: Cell): number {
  return parts.reduce((sum, { text }) => sum + widthOf(text).width, 0)
}
