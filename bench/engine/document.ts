import { markdownTable } from 'markdown-table'
import { medianOf } from '../serve/report/ratios.ts'
import { describeRun, type Report, type Row, type Sample } from '../serve/report/report.ts'
import { median, spread } from '../serve/statistics.ts'
import { judge } from './judge.ts'
import { type Target, targets } from './targets.ts'
import { estimate, looks, verdictOf } from './verdict.ts'

/** Workloads that were measured one after another, with what they were measured of. */
export interface Piece {
  readonly date: string
  readonly commit: string
  readonly command: string
  readonly minutes: number
  readonly workloads: readonly string[]
}

/** A run of `bench:engine`, in as many pieces as it was resumed. */
export interface EngineReport extends Report {
  readonly pieces: readonly Piece[]
}

/** What a run of `bench:engine` says, as Markdown. */
export function engineDocument(report: EngineReport): string {
  return `# The native engine beside its peers

${describeRun(report)}.
The server on one core, the load on another; servers take turns, round after round, and each is started anew after five.
Values are medians of the rounds, ratios and differences are medians of those within each round. ${noiseIn(report)}

${piecesIn(report)}

## Targets

A target is judged where what was measured is farther from the mark than \`serve-dist-native\` is from itself, which takes two
turns in each round: \`itself\` is the farther end of that ratio's interval (95 %). Below 30 rounds, a difference of less than 10 %
decides nothing; below 5, none. What is on its mark or on the better side of it is met.

The rounds of a target end early only after ${looks.join(', ')}: where the interval of the ratio to what the mark allows (99 %, so that all looks together
are wrong in 5 %) lies 10 % or more from 1 on one side, and farther than the engine is from itself.

${targetTable(report)}

${workloadTables(report)}${missingIn(report)}`
}

function piecesIn({ pieces }: EngineReport): string {
  return pieces
    .map(({ date, commit, command, minutes, workloads }) => {
      const when = `${date.slice(0, 16).replace('T', ' ')} UTC, ${minutes} minutes, of ${commit}`
      return `- ${when}, by \`${command}\`: ${workloads.map((name) => `\`${name}\``).join(', ')}`
    })
    .join('\n')
}

function targetTable(report: Report): string {
  const headings = ['workload', 'what', 'beside', 'value', '95 %', 'itself', 'mark', 'aim', 'rounds', '']
  const lines = targets.flatMap((target) =>
    target.workloads.map((workload) => targetLine(report, target, workload)),
  )
  const align = headings.map((_, column) => (column < 3 || column === headings.length - 1 ? 'l' : 'r'))
  return markdownTable([headings, ...lines], { align })
}

const quantities: Partial<Record<keyof Sample, string>> = {
  cpuMicrosecondsPerRequest: 'CPU per request',
  p99Milliseconds: 'p99',
  heldBytes: 'memory',
  requestsPerSecond: 'requests per second',
}

const signs = { 'at most': '≤ ', 'at least': '≥ ', 'at most more': '≤ + ' } as const

function targetLine({ rows }: Report, target: Target, workload: string): readonly string[] {
  const { title, quantity, beside, kind, mark, aim } = target
  const { values, shares, resolution, voids } = judge(rows, target, workload)
  const { median: value, low, high } = estimate(values)
  const verdict = verdictOf(shares, resolution)
  const isMeasured = values.length > 0
  return [
    target.workloads.length > 1 ? `${title}: ${workload.replace('answer-', '')}` : title,
    quantities[quantity] ?? quantity,
    beside ?? '–',
    numberOf(value),
    isMeasured ? `${numberOf(low)}–${numberOf(high)}` : '–',
    Number.isNaN(resolution) ? '–' : `± ${(resolution * 100).toFixed(1)} %`,
    `${signs[kind]}${mark}`,
    aim === undefined ? '–' : String(aim),
    String(values.length),
    isMeasured ? verdict : ['not measured', ...voids].join('; '),
  ]
}

function workloadTables({ rows, titles }: Report): string {
  return Object.entries(titles)
    .map(([workload, title]) => {
      const own = rows.filter((row) => row.workload === workload)
      return `## ${title} (\`${workload}\`)\n\n${workloadTable(own)}\n`
    })
    .join('\n')
}

function workloadTable(rows: readonly Row[]): string {
  const headings = [
    'server',
    'µs CPU/req',
    '±',
    'req/s',
    'p99 ms',
    'late ms',
    'CPU',
    'memory MB',
    'bytes/req',
    'rounds',
    '',
  ]
  const lines = rows.map((row) => {
    const name = `${row.server} ${row.version}`
    if (row.void !== undefined) return [name, ...headings.slice(2).map(() => ''), `void: ${row.void}`]
    return [
      name,
      medianOf(row, 'cpuMicrosecondsPerRequest').toFixed(1),
      `${(spread(row.samples.map((sample) => sample.cpuMicrosecondsPerRequest)) * 100).toFixed(0)} %`,
      medianOf(row, 'requestsPerSecond').toFixed(0),
      medianOf(row, 'p99Milliseconds').toFixed(2),
      lateIn(row),
      `${(medianOf(row, 'cpuShare') * 100).toFixed(0)} %`,
      (medianOf(row, 'heldBytes') / 1e6).toFixed(0),
      medianOf(row, 'wireBytesPerRequest').toFixed(0),
      String(row.samples.length),
      row.remarks.join(', '),
    ]
  })
  const align = headings.map((_, column) => (column === 0 || column === headings.length - 1 ? 'l' : 'r'))
  return markdownTable([headings, ...lines], { align })
}

/** Of what latency the load generator may itself be the reason. */
function lateIn(row: Row): string {
  const late = medianOf(row, 'lateMilliseconds')
  return late > 0 ? late.toFixed(2) : '–'
}

function noiseIn({ rows }: Report): string {
  const samples = rows.flatMap(({ samples: own }) => own)
  const [foreign, stolen] = [
    samples.map(({ foreignCpuShare }) => foreignCpuShare),
    samples.map(({ stolenCpuShare }) => stolenCpuShare),
  ].map((shares) => `${percent(median(shares))} in the median and ${percent(Math.max(...shares))} at worst`)
  return `Others used ${foreign} of a core meanwhile; of that, other machines stole ${stolen}.`
}

function missingIn({ missing }: Report): string {
  const lines = Object.entries(missing).map(([name, reason]) => `- \`${name}\`: ${reason}.`)
  return lines.length === 0 ? '' : `\n## Not on this machine\n\n${lines.join('\n')}\n`
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`
}

function numberOf(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(2)
}
