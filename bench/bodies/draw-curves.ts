import { median } from '../serve/report/statistics.ts'
import { describeRun, escapeText } from '../serve/report/svg-text.ts'
import type { BodiesReport, Point } from './report.ts'

const panel = { width: 150, height: 110, gap: 26 }
const left = 84
const top = 84
/** The highest share that is drawn. */
const highest = 1.25

const style = `
  text { font: 11px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 16px; font-weight: 600 }
  .note { fill: #59636e }
  .frame { fill: none; stroke: #d1d9e0 }
  .memory { stroke: #8c959f; stroke-dasharray: 3 3 }
  .way { fill: none; stroke-width: 2 }
  .way0 { stroke: #0969da } .way1 { stroke: #bc4c00 } .way2 { stroke: #8250df } .way3 { stroke: #1a7f37 }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .note { fill: #9198a1 }
    .frame { stroke: #3d444d }
    .way0 { stroke: #4493f8 } .way1 { stroke: #db6d28 } .way2 { stroke: #ab7df8 } .way3 { stroke: #3fb950 }
  }`

/**
 * Draws how fast each way is, as a share of answers from memory of the same size: a row of panels for each Node, a
 * column for each state of the page cache and number of connections.
 *
 * @throws TypeError without answers from memory, or with more other ways than there are colours.
 */
export function drawCurves(report: BodiesReport): string {
  const { points } = report
  const nodes = unique(points.map(({ node }) => node))
  const columns = unique(points.map(columnOf))
  const sizes = unique(points.map(({ size }) => size)).toSorted((a, b) => a - b)
  const ways = unique(points.map(({ way }) => way)).filter((way) => way !== 'memory')
  if (ways.length > 4) throw new TypeError('at most four ways besides memory can be told apart')
  const xOf = (size: number): number => (sizes.indexOf(size) / Math.max(1, sizes.length - 1)) * panel.width
  const yOf = (share: number): number => panel.height * (1 - Math.min(share, highest) / highest)

  const anchorOf = (place: number): string =>
    place === 0 ? 'start' : place === sizes.length - 1 ? 'end' : 'middle'

  const panels = nodes.flatMap((node, row) =>
    columns.map((column, index) => {
      const here = points.filter((point) => point.node === node && columnOf(point) === column)
      const lines = ways.map((way, colour) => {
        const shares = sizes.flatMap((size) => {
          const share = shareOf(here, way, size)
          return share === undefined ? [] : [`${xOf(size).toFixed(1)},${yOf(share).toFixed(1)}`]
        })
        return `    <polyline class="way way${colour}" points="${shares.join(' ')}" />`
      })
      const x = left + index * (panel.width + panel.gap)
      const y = top + row * (panel.height + panel.gap)
      return `  <g transform="translate(${x} ${y})">
    <rect class="frame" width="${panel.width}" height="${panel.height}" />
    <line class="memory" x2="${panel.width}" y1="${yOf(1).toFixed(1)}" y2="${yOf(1).toFixed(1)}" />
${lines.join('\n')}
  </g>`
    }),
  )
  const bottom = top + nodes.length * (panel.height + panel.gap)
  const width = left + columns.length * (panel.width + panel.gap)
  const labels = [
    ...columns.map((column, index) => text(left + index * (panel.width + panel.gap), top - 8, column)),
    ...nodes.map((node, row) => text(10, top + row * (panel.height + panel.gap) + 14, node)),
    ...columns.flatMap((_, index) =>
      sizes.map((size, place) =>
        text(left + index * (panel.width + panel.gap) + xOf(size), bottom - 10, `${size}`, anchorOf(place)),
      ),
    ),
    ...ways.map((way, colour) => {
      const x = left + colour * 120
      return `  <line class="way way${colour}" x1="${x}" x2="${x + 20}" y1="48" y2="48" />\n${text(x + 26, 52, way)}`
    }),
  ]
  const note = `${describeRun(report)}; loads of ${report.seconds} s, medians`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 30}" width="${width}" height="${bottom + 30}" role="img">
  <style>${style}
  </style>
  <text class="title" x="10" y="24">Requests per second as a share of answers from memory (dashed), by size in KiB</text>
${labels.join('\n')}
${panels.join('\n')}
  <text class="note" x="10" y="${bottom + 18}">${escapeText(note)}</text>
</svg>
`
}

function shareOf(points: readonly Point[], way: string, size: number): number | undefined {
  const rateOf = (name: string): number | undefined => {
    const rates = points.find((point) => point.way === name && point.size === size)?.rates
    return rates === undefined ? undefined : median(rates)
  }
  const rate = rateOf(way)
  if (rate === undefined) return undefined
  const memory = rateOf('memory')
  if (memory === undefined) throw new TypeError(`no answers from memory of ${size} KiB to compare with`)
  return rate / memory
}

function columnOf({ cache, connections }: Point): string {
  return `${cache}, ${connections} connections`
}

function unique<Value>(values: readonly Value[]): Value[] {
  return [...new Set(values)]
}

function text(x: number, y: number, content: string, anchor = 'start'): string {
  return `  <text text-anchor="${anchor}" x="${x.toFixed(1)}" y="${y}">${escapeText(content)}</text>`
}
