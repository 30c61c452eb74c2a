import xterm from '@xterm/headless'

const columns = 90
const cellWidth = 8.4
const lineHeight = 19
const margin = 16

const style = `
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; fill: #1f2328; white-space: pre }
  rect { fill: #f6f8fa }
  .bold { font-weight: 600 }
  .underline { text-decoration: underline }
  .color2 { fill: #116329 }
  .color3 { fill: #7d4e00 }
  .color5 { fill: #8250df }
  .color6 { fill: #0a6c74 }
  .dim { fill: #59636e }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    rect { fill: #151b23 }
    .color2 { fill: #3fb950 }
    .color3 { fill: #d29922 }
    .color5 { fill: #be8fff }
    .color6 { fill: #39c5cf }
    .dim { fill: #9198a1 }
  }`

/** Cells of one line that follow each other and look the same. */
interface Run {
  readonly column: number
  readonly classes: string
  text: string
}

/** Draws what a terminal of 90 columns shows after it received the bytes of a program, as SVG. */
export async function drawTerminal(bytes: string, title: string): Promise<string> {
  const terminal = new xterm.Terminal({ cols: columns, rows: 100, allowProposedApi: true })
  await new Promise<void>((resolve) => terminal.write(bytes, resolve))
  const lines = Array.from({ length: terminal.rows }, (_, row) => runsOf(terminal.buffer.active.getLine(row)))
  const shown = lines.slice(0, lines.findLastIndex((runs) => runs.length > 0) + 1)
  const texts = shown.flatMap((runs, row) => runs.map((run) => drawRun(run, row)))
  const width = Math.ceil(columns * cellWidth + 2 * margin)
  const height = shown.length * lineHeight + 2 * margin
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${title}">
  <style>${style}
  </style>
  <rect width="${width}" height="${height}" rx="8" />
${texts.join('\n')}
</svg>
`
}

/** The runs of a line; blank ones are left out. */
function runsOf(line: xterm.IBufferLine | undefined): Run[] {
  const runs: Run[] = []
  for (let column = 0; column < (line?.length ?? 0); column++) {
    const cell = line?.getCell(column)
    if (cell === undefined) continue
    const classes = classesOf(cell)
    const last = runs.at(-1)
    if (last?.classes === classes) last.text += cell.getChars() || ' '
    else runs.push({ column, classes, text: cell.getChars() || ' ' })
  }
  return runs.filter(({ text }) => text.trim() !== '')
}

function classesOf(cell: xterm.IBufferCell): string {
  const names = [
    cell.isDim() && 'dim',
    cell.isBold() && 'bold',
    cell.isUnderline() && 'underline',
    cell.isFgPalette() && `color${cell.getFgColor()}`,
  ]
  return names.filter((name) => typeof name === 'string').join(' ')
}

function drawRun({ column, classes, text: cells }: Run, row: number): string {
  const text = cells.trimEnd()
  const x = margin + column * cellWidth
  const y = margin + row * lineHeight + 14
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `  <text class="${classes}" x="${x.toFixed(1)}" y="${y}" textLength="${(text.length * cellWidth).toFixed(1)}">${escaped}</text>`
}
