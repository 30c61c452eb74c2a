import { isOwn, medianOf, ratioTo } from './ratios.ts'
import { describeRun, type Report, type Row } from './report.ts'

const width = 760
const labelWidth = 210
const barHeight = 20
const rowHeight = 30
const topHeight = 64
const noteHeight = 16
const longestBar = width - labelWidth - 150

const style = `
  text { font: 13px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 16px; font-weight: 600 }
  .note { font-size: 11px; fill: #59636e }
  .label { text-anchor: end }
  .page { fill: #ffffff }
  .bar { fill: #8c959f }
  .ours { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .page { fill: #0d1117 }
    .note { fill: #9198a1 }
    .bar { fill: #656c76 }
    .ours { fill: #4493f8 }
  }`

/** Draws the rows of one workload as bars, the fastest first, and lists void ones. */
export function drawChart(report: Report, rows: readonly Row[]): string {
  const drawn = rows
    .filter((row) => row.void === undefined)
    .map((row) => ({ row, rate: medianOf(row, 'requestsPerSecond') }))
    .toSorted((a, b) => b.rate - a.rate)
  const [fastest] = drawn
  if (fastest === undefined) throw new TypeError('a chart without rows')
  const { workload, connections } = fastest.row
  const voids = rows.filter((row) => row.void !== undefined).map(({ server }) => server)
  const missing = voids.length === 0 ? '' : `; void: ${voids.join(', ')}`
  const notes = [describeRun(report), ...splitIntoLines(report.command)]
  const height = topHeight + drawn.length * rowHeight + 10 + notes.length * noteHeight
  const bars = drawn.map(({ row, rate }, index) => {
    const y = topHeight + index * rowHeight
    const length = Math.max(1, (rate / fastest.rate) * longestBar)
    const ratio = ratioTo('sirv', row, rows)
    const times = ratio === undefined ? '' : ` (${ratio.toFixed(1)} × sirv)`
    return `  <text class="label" x="${labelWidth - 10}" y="${y + 15}">${escapeText(`${row.server} ${row.version}`)}</text>
  <rect class="${isOwn(row.server) ? 'bar ours' : 'bar'}" x="${labelWidth}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" rx="2" />
  <text x="${(labelWidth + length + 8).toFixed(1)}" y="${y + 15}">${Math.round(rate).toLocaleString('en')}${times}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <style>${style}
  </style>
  <rect class="page" width="${width}" height="${height}" rx="8" />
  <text class="title" x="10" y="24">${escapeText(report.titles[workload] ?? workload)}</text>
  <text class="note" x="10" y="44">requests per second, median of ${fastest.row.samples.length} rounds, ${connections} connections; more is better${escapeText(missing)}</text>
${bars.join('\n')}
${notes.map((text, index) => `  <text class="note" x="10" y="${height - 10 - (notes.length - 1 - index) * noteHeight}">${escapeText(text)}</text>`).join('\n')}
</svg>
`
}

/** Splits a command at spaces and commas into lines that fit. */
function splitIntoLines(command: string): string[] {
  return command.match(/.{1,110}(?:[ ,]|$)/g) ?? [command]
}

function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
