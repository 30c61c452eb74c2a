import { median } from '../serve/report/statistics.ts'
import { describeRun, escapeText } from '../serve/report/svg-text.ts'
import type { BudgetPoint, BudgetReport } from './budget-report.ts'

const panel = { width: 300, height: 200 }
const left = 64
const top = 76
const betweenPanels = 90

const style = `
  text { font: 11px system-ui, sans-serif; fill: #1f2328 }
  .title { font-size: 16px; font-weight: 600 }
  .note { fill: #59636e }
  .frame { fill: none; stroke: #d1d9e0 }
  .line { fill: none; stroke: #0969da; stroke-width: 2 }
  .point { fill: #0969da }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc }
    .note { fill: #9198a1 }
    .frame { stroke: #3d444d }
    .line { stroke: #4493f8 }
    .point { fill: #4493f8 }
  }`

/**
 * Draws what resident memory buys, a point for each budget: answers from memory on the left, requests a second on
 * the right.
 *
 * @throws TypeError without a point.
 */
export function drawBudget(report: BudgetReport): string {
  const { points, files, connections, seconds } = report
  if (points.length === 0) throw new TypeError('a chart without points')
  const fastest = Math.max(...points.map(rateOf))
  const panels = [
    drawPanel(points, {
      x: left,
      title: 'answers from memory',
      highest: '100 %',
      of: (point) => point.hitRate,
    }),
    drawPanel(points, {
      x: left + panel.width + betweenPanels,
      title: 'requests a second',
      highest: Math.round(fastest).toLocaleString('en'),
      of: (point) => rateOf(point) / fastest,
    }),
  ]
  const width = left + 2 * panel.width + betweenPanels + 20
  const height = top + panel.height + 66
  const note = `${describeRun(report)}, Node ${report.machine.node}; ${connections} connections, loads of ${seconds} s, medians`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
  <style>${style}
  </style>
  <text class="title" x="10" y="24">What a budget of memory buys: ${files.toLocaleString('en')} files, popularity by Zipf</text>
  <text class="note" x="10" y="44">by resident memory under load; beside each point its budget</text>
${panels.join('\n')}
  <text class="note" x="10" y="${height - 10}">${escapeText(note)}</text>
</svg>
`
}

interface Panel {
  readonly x: number
  readonly title: string
  /** What stands at its upper edge. */
  readonly highest: string
  /** From 0 to 1. */
  readonly of: (point: BudgetPoint) => number
}

function drawPanel(points: readonly BudgetPoint[], { x, title, highest, of }: Panel): string {
  const residents = points.map(({ peaks }) => median(peaks))
  const [least, most] = [Math.min(...residents), Math.max(...residents)]
  const placed = points.map((point, index) => ({
    budget: point.budget,
    x: (((residents[index] ?? least) - least) / Math.max(1, most - least)) * panel.width,
    y: panel.height * (1 - of(point)),
  }))
  const line = placed
    .toSorted((a, b) => a.x - b.x)
    .map((place) => `${place.x.toFixed(1)},${place.y.toFixed(1)}`)
    .join(' ')
  const marks = placed.map((place) => {
    const isRight = place.x > panel.width / 2
    const anchor = isRight ? 'end' : 'start'
    const labelX = place.x + (isRight ? -7 : 7)
    // Within the frame, above or below the point.
    const labelY = place.y < panel.height / 2 ? place.y + 16 : place.y - 7
    return `    <circle class="point" cx="${place.x.toFixed(1)}" cy="${place.y.toFixed(1)}" r="3" /><text text-anchor="${anchor}" x="${labelX.toFixed(1)}" y="${labelY.toFixed(1)}">${place.budget} MiB</text>`
  })
  return `  <g transform="translate(${x} ${top})">
    <rect class="frame" width="${panel.width}" height="${panel.height}" />
    <text y="-8">${title}</text>
    <text text-anchor="end" x="-6" y="10">${highest}</text>
    <text text-anchor="end" x="-6" y="${panel.height}">0</text>
    <text y="${panel.height + 16}">${(least / 1e6).toFixed(0)} MB</text>
    <text text-anchor="end" x="${panel.width}" y="${panel.height + 16}">${(most / 1e6).toFixed(0)} MB</text>
    <polyline class="line" points="${line}" />
${marks.join('\n')}
  </g>`
}

function rateOf({ rates }: BudgetPoint): number {
  return median(rates)
}
