import { markdownTable } from 'markdown-table'
import { spread } from '../statistics.ts'
import { medianOf, ratioTo, references, requestRates } from './ratios.ts'
import type { Row } from './report.ts'

const headings = [
  'server',
  'coding',
  'req/s',
  '±',
  ...references.map((name) => `× ${name}`),
  'p50 ms',
  'p99 ms',
  'CPU',
  'µs CPU/req',
  'memory MB',
  'boot ms',
  'bytes/req',
  'remarks',
]

/** Formats the rows of one workload as a table. */
export function formatTable(rows: readonly Row[]): string {
  const align = headings.map((_, column) => (column < 2 || column === headings.length - 1 ? 'l' : 'r'))
  return markdownTable([headings, ...rows.map((row) => cellsOf(row, rows))], { align })
}

function cellsOf(row: Row, rows: readonly Row[]): string[] {
  const name = `${row.server} ${row.version}`
  if (row.void !== undefined) return [name, 'void', ...headings.slice(3).map(() => ''), row.void]
  return [
    name,
    row.codings.join('+'),
    medianOf(row, 'requestsPerSecond').toFixed(0),
    `${(spread(requestRates(row)) * 100).toFixed(0)} %`,
    ...references.map((reference) => ratioTo(reference, row, rows)?.toFixed(2) ?? '–'),
    medianOf(row, 'p50Milliseconds').toFixed(2),
    medianOf(row, 'p99Milliseconds').toFixed(2),
    `${(medianOf(row, 'cpuShare') * 100).toFixed(0)} %`,
    medianOf(row, 'cpuMicrosecondsPerRequest').toFixed(0),
    (medianOf(row, 'heldBytes') / 1e6).toFixed(0),
    medianOf(row, 'bootMilliseconds').toFixed(0),
    medianOf(row, 'wireBytesPerRequest').toFixed(0),
    row.remarks.join(', '),
  ]
}
