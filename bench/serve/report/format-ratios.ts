import { isSameLoad, ratioTo } from './ratio-to.ts'
import type { Report, Row } from './report.ts'
import { median } from './statistics.ts'

/** Whom ours is compared with, in the order of the columns. */
const compared = ['floor', 'sirv', 'express', 'fastify', 'vinext', 'nginx'] as const

/** Servers of users on Node, whose p99 is looked at; the floor is none. */
const onNode = new Set([
  'sirv',
  'polka-sirv',
  'express',
  'express-static-gzip',
  'fastify',
  'send',
  'hono',
  'srvx',
  'h3',
  'serve-handler',
  'vinext',
  'sveltekit-adapter-node',
])

/** Below this share of its core, the load generator was the limit and not the server. */
const busy = 0.8

/** What documents say of a run: a line for each workload and number of connections, as Markdown. */
export function formatRatios(report: Report): string {
  const withBeside = new Set(report.rows.filter(hasBeside).map(({ workload }) => workload))
  const beside = report.rows.filter(({ workload }) => withBeside.has(workload))
  const alone = report.rows.filter(
    ({ server, workload }) => server === 'serve-dist' && !withBeside.has(workload),
  )
  const parts = [
    ...(alone.length > 0 ? [ratioTable(alone, report)] : []),
    ...(beside.length > 0 ? [besideTable(beside, report)] : []),
    originOf(report),
  ]
  return parts.join('\n\n')
}

function ratioTable(ours: readonly Row[], report: Report): string {
  const headings = [
    'workload',
    'connections',
    ...compared.map((name) => `× ${name}`),
    'p99 ms',
    'lowest p99 of another Node server',
  ]
  const lines = ours.map((row) => {
    const rows = report.rows.filter((other) => isSameLoad(row, other))
    return [
      titleOf(row, report.titles),
      String(row.connections),
      ...compared.map((name) => ratioCell(name, row, rows)),
      row.void === undefined ? p99Of(row).toFixed(1) : 'void',
      lowestCell(rows),
    ]
  })
  return markdown(headings, lines, 2)
}

function ratioCell(reference: string, row: Row, rows: readonly Row[]): string {
  const ratio = ratioTo(reference, row, rows)
  const other = rows.find(({ server }) => server === reference)
  if (ratio === undefined || other === undefined) return other?.void === undefined ? '–' : 'void'
  return `${ratio.toFixed(2)}${[row, other].some((one) => cpuOf(one) < busy) ? '*' : ''}`
}

function lowestCell(rows: readonly Row[]): string {
  const [lowest] = rows
    .filter((row) => onNode.has(row.server) && row.void === undefined)
    .toSorted((a, b) => p99Of(a) - p99Of(b))
  return lowest === undefined ? '–' : `${p99Of(lowest).toFixed(1)} (${lowest.server})`
}

function besideTable(rows: readonly Row[], { titles }: Report): string {
  const headings = [
    'workload',
    'connections',
    'server',
    'req/s',
    'p99 ms',
    'beside: p50 ms',
    'beside: p99 ms',
  ]
  const lines = rows.map((row) => {
    const { samples } = row
    if (row.void !== undefined)
      return [titleOf(row, titles), String(row.connections), row.server, 'void', '', '', '']
    const of = (key: 'p50' | 'p99'): string =>
      median(samples.flatMap((sample) => (sample.beside === undefined ? [] : [sample.beside[key]]))).toFixed(
        1,
      )
    const rate = median(samples.map(({ requestsPerSecond }) => requestsPerSecond)).toFixed(0)
    return [
      titleOf(row, titles),
      String(row.connections),
      row.server,
      rate,
      p99Of(row).toFixed(1),
      of('p50'),
      of('p99'),
    ]
  })
  return markdown(headings, lines, 3)
}

function titleOf({ workload }: Row, titles: Report['titles']): string {
  return titles[workload] ?? workload
}

function hasBeside({ samples }: Row): boolean {
  return samples.some(({ beside }) => beside !== undefined)
}

function p99Of({ samples }: Row): number {
  return median(samples.map(({ p99Milliseconds }) => p99Milliseconds))
}

function cpuOf({ samples }: Row): number {
  return median(samples.map(({ cpuShare }) => cpuShare))
}

function originOf({ date, machine, command, rows }: Report): string {
  const rounds = rows.filter((row) => row.void === undefined).map(({ samples }) => samples.length)
  const [fewest, most] = [Math.min(...rounds), Math.max(...rounds)]
  const count = fewest === most ? String(most) : `${fewest} to ${most}`
  const commands = command.split('; ').map((one) => `- \`${one}\``)
  return [
    `\\* The load generator was the limit, not both servers. Measured on ${date.slice(0, 10)}, medians of ${count} rounds; Node.js ${machine.node}, ${machine.system}, ${machine.cores} cores of ${machine.processor}; with:`,
    commands.join('\n'),
  ].join('\n\n')
}

/** A table whose first columns are text. */
function markdown(headings: readonly string[], lines: readonly (readonly string[])[], texts: number): string {
  const rule = headings.map((_, column) => (column < texts && column !== 1 ? '---' : '---:'))
  return [headings, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}
