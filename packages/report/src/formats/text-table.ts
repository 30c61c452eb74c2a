import widthOf from 'fast-string-truncated-width'

/** Text that may hold escapes; what is aligned is its visible width. */
export interface TextCell {
  readonly text: string
  readonly width: number
}

/** A cell, styled after it was measured. */
export function textCell(text: string, style: (text: string) => string = String): TextCell {
  return { text: text === '' ? '' : style(text), width: widthOf(text).width }
}

/** Several texts in one cell. */
export function joinCells(cells: readonly TextCell[]): TextCell {
  return {
    text: cells.map(({ text }) => text).join(''),
    width: cells.reduce((sum, { width }) => sum + width, 0),
  }
}

/** Aligns rows: the first `leftColumns` columns to the left, all others to the right. */
export function layOutTable(rows: readonly (readonly TextCell[])[], leftColumns = 1): string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length))
  const widths = Array.from({ length: columns }, (_, column) =>
    rows.reduce((widest, row) => Math.max(widest, row[column]?.width ?? 0), 0),
  )
  return rows.map((row) =>
    row
      .map(({ text, width }, column) => {
        const padding = ' '.repeat((widths[column] ?? 0) - width)
        return column < leftColumns ? text + padding : padding + text
      })
      .join('  ')
      .trimEnd(),
  )
}
