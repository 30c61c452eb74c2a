import widthOf from 'fast-string-truncated-width'

/** Returns the width of a terminal. Returns `undefined` for files and pipes. */
export function terminalWidth({
  isTTY,
  columns,
}: {
  readonly isTTY?: boolean
  readonly columns?: number
}): number | undefined {
  // Some pseudo-terminals report 0 columns.
  return isTTY === true && columns !== undefined && columns > 40 ? columns : undefined
}

/**
 * Wraps each line at words and repeats its indent. A longer word has its own line.
 *
 * @param columns - the maximum width. If it is `undefined`, the text stays the same.
 * @param more - the additional indent of continued lines.
 */
export function wrapText(text: string, columns: number | undefined, more = ''): string {
  if (columns === undefined) return text
  return text
    .split('\n')
    .flatMap((line) => wrapLine(line, columns, more))
    .join('\n')
}

function wrapLine(text: string, columns: number, more: string): string[] {
  const [indent = ''] = /^ */.exec(text) ?? []
  const lines: string[] = []
  let line = ''
  let begin = indent
  for (const word of text.slice(indent.length).split(' ')) {
    if (line !== '' && begin.length + widthOf(`${line} ${word}`).width > columns) {
      lines.push(begin + line)
      line = word
      begin = indent + more
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, begin + line]
}
