import { markdownTable } from 'markdown-table'
import { isBusy, isOwn, isSameLoad, medianOf, ratioTo } from './ratios.ts'
import { describeRun, type Report, type Row } from './report.ts'

/** The peers of the table, in the order of the columns. */
const compared = ['floor', 'sirv', 'express', 'fastify', 'vinext', 'nginx'] as const

/** Real servers on Node, for the lowest p99. The floor is not one. */
const onNode = new Set(['sirv', 'polka-sirv', 'express', 'express-static-gzip', 'fastify', 'hono', 'vinext'])

/** Formats the table of bench/README.md. */
export function formatRatios(report: Report): string {
  const headings = [
    'workload',
    'server',
    'connections',
    ...compared.map((name) => `× ${name}`),
    'p99 ms',
    'lowest p99 of another Node server',
  ]
  const lines = report.rows.filter(({ server }) => isOwn(server)).map((row) => lineOf(row, report))
  const align = headings.map((_, column) => (column < 2 ? 'l' : 'r'))
  return `${markdownTable([headings, ...lines], { align })}\n\n${originOf(report)}`
}

function lineOf(row: Row, { rows, titles }: Report): readonly string[] {
  const others = rows.filter((other) => isSameLoad(row, other))
  return [
    titles[row.workload] ?? row.workload,
    row.server,
    String(row.connections),
    ...compared.map((name) => ratioCell(name, row, others)),
    row.void === undefined ? medianOf(row, 'p99Milliseconds').toFixed(1) : 'void',
    lowestCell(others),
  ]
}

function ratioCell(reference: string, row: Row, rows: readonly Row[]): string {
  const ratio = ratioTo(reference, row, rows)
  const other = rows.find(({ server }) => server === reference)
  if (ratio === undefined || other === undefined) return other?.void === undefined ? '–' : 'void'
  return `${ratio.toFixed(2)}${[row, other].some((one) => !isBusy(one)) ? '*' : ''}`
}

function lowestCell(rows: readonly Row[]): string {
  const [lowest] = rows
    .filter((row) => onNode.has(row.server) && row.void === undefined)
    .map((row) => ({ server: row.server, p99: medianOf(row, 'p99Milliseconds') }))
    .toSorted((a, b) => a.p99 - b.p99)
  return lowest === undefined ? '–' : `${lowest.p99.toFixed(1)} (${lowest.server})`
}

function originOf(report: Report): string {
  const rounds = report.rows.filter((row) => row.void === undefined).map(({ samples }) => samples.length)
  const counts = [...new Set([Math.min(...rounds), Math.max(...rounds)])].join(' to ')
  return (
    `\\* The load generator was the limit, not the two servers. Medians of ${counts} rounds, ` +
    `${describeRun(report)}, by \`${report.command}\`.`
  )
}
