import type { Sample } from '../measure/sample.ts'
import { ratioTo, references, requestRates } from './ratio-to.ts'
import type { Row } from './report.ts'
import { median, spread } from './statistics.ts'

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
  'peak MB',
  'boot ms',
  'bytes/req',
  'remarks',
]

/** Lays out the rows of one workload and number of connections. */
export function formatTable(rows: readonly Row[]): string {
  const cells = [headings, ...rows.map((row) => cellsOf(row, rows))]
  const widths = headings.map((_, column) => Math.max(...cells.map((line) => line[column]?.length ?? 0)))
  return cells
    .map((line) =>
      line
        .map((text, column) => pad(text, column, widths))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function cellsOf(row: Row, rows: readonly Row[]): string[] {
  const name = `${row.server} ${row.version}`
  if (row.void !== undefined) return [name, 'void', ...headings.slice(3).map(() => ''), row.void]
  const of = (key: Exclude<keyof Sample, 'beside'>): number =>
    median(row.samples.map((sample) => sample[key]))
  const rates = requestRates(row)
  return [
    name,
    row.codings.join('+'),
    of('requestsPerSecond').toFixed(0),
    `${(spread(rates) * 100).toFixed(0)} %`,
    ...references.map((reference) => ratioTo(reference, row, rows)?.toFixed(2) ?? '–'),
    of('p50Milliseconds').toFixed(2),
    of('p99Milliseconds').toFixed(2),
    `${(of('cpuShare') * 100).toFixed(0)} %`,
    of('cpuMicrosecondsPerRequest').toFixed(0),
    (of('peakBytes') / 1e6).toFixed(0),
    of('bootMilliseconds').toFixed(0),
    of('wireBytesPerRequest').toFixed(0),
    [...row.remarks, ...besideRemarks(row)].join(', '),
  ]
}

function besideRemarks({ samples }: Row): string[] {
  const latencies = samples.flatMap(({ beside }) => (beside === undefined ? [] : [beside]))
  if (latencies.length === 0) return []
  const p50 = median(latencies.map((latency) => latency.p50))
  const p99 = median(latencies.map((latency) => latency.p99))
  return [`beside: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`]
}

function pad(text: string, column: number, widths: readonly number[]): string {
  const width = widths[column] ?? 0
  const isText = column < 2 || column === headings.length - 1
  return isText ? text.padEnd(width) : text.padStart(width)
}
