import { markdownTable } from 'markdown-table'
import { medianOf } from '../serve/report/ratios.ts'
import { describeRun, type Report, type Row, type Sample } from '../serve/report/report.ts'
import { median, spread } from '../serve/statistics.ts'
import { evaluateTarget } from './evaluate-target.ts'
import { type Target, targets } from './targets.ts'
import { estimateMedian, interimRounds, verdictOf } from './verdict.ts'

/** Formats a run of `bench:engine` as Markdown. */
export function engineDocument(report: Report): string {
  return `# The native engine and its peers

${describeRun(report)}, TCP ${report.machine.congestionControl}, ${report.rows[0]?.connections} connections, at commit ${report.commit ?? 'unknown'}, by \`${report.command}\`.
The server has one core, and the load generator another. Servers take turns, round after round. Each is restarted after five rounds.
Values are medians of the rounds. Ratios and differences are medians of those within each round. ${noiseIn(report)}

## Targets

\`serve-dist-native\` takes two turns in each round. The column \`itself\` has the difference between the two turns: the farther end of
the ratio's interval (95 %). A target is judged only if its value is farther from the mark than that. Below 30 rounds, a difference of
less than 10 % decides nothing. Below 5 rounds, nothing is decided. A target is met if its value is on the mark or on the better side.

The rounds of a target end early only after ${interimRounds.join(', ')} rounds. Then the interval of the ratio to the mark is on one side of 1,
at least 10 % from it, and farther than the engine is from itself. It is an interval of 99 %, so that all checks together are wrong in 5 %.

\`nginx-newest\` is compiled from the newest source archive that the Debian mirror of this machine has. There is no
newer h2o, because Debian has no package of it after bookworm. The marks of 50 KB to 1 MB apply to TCP CUBIC. With BBR, the speed of these
answers on the loopback has two states.

${targetTable(report)}

${workloadTables(report)}${missingIn(report)}`
}

function targetTable(report: Report): string {
  const headings = [
    'workload',
    'what',
    'compared with',
    'value',
    '95 %',
    'itself',
    'mark',
    'aim',
    'rounds',
    '',
  ]
  const lines = targets
    .filter(({ beside = '' }) => report.missing[beside] === undefined)
    .flatMap((target) => target.workloads.map((workload) => targetLine(report, target, workload)))
  const align = headings.map((_, column) => (column < 3 || column === headings.length - 1 ? 'l' : 'r'))
  return markdownTable([headings, ...lines], { align })
}

const quantities: Partial<Record<keyof Sample, string>> = {
  cpuMicrosecondsPerRequest: 'CPU per request',
  p99Milliseconds: 'p99',
  heldBytes: 'memory',
  requestsPerSecond: 'requests per second',
  p50Milliseconds: 'p50',
}

const signs = { 'at most': '≤ ', 'at least': '≥ ', 'at most more': '≤ + ' } as const

function targetLine({ rows }: Report, target: Target, workload: string): readonly string[] {
  const { title, quantity, beside, kind, mark, aim } = target
  const { values, shares, resolution, voids } = evaluateTarget(rows, target, workload)
  const { median: value, low, high } = estimateMedian(values)
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
    'p50 ms',
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
      medianOf(row, 'p50Milliseconds').toFixed(2),
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

/** Returns the latency that the load generator itself may have caused. */
function lateIn(row: Row): string {
  const late = medianOf(row, 'lateMilliseconds')
  return late > 0 ? late.toFixed(2) : '–'
}

function noiseIn({ rows }: Report): string {
  const shares = rows.flatMap(({ samples }) => samples.map(({ foreignCpuShare }) => foreignCpuShare))
  const [middle, worst] = [median(shares), Math.max(...shares)].map(
    (share) => `${(share * 100).toFixed(0)} %`,
  )
  return `Other processes and machines used ${middle} of a core in the median and ${worst} at worst.`
}

function missingIn({ missing }: Report): string {
  const lines = Object.entries(missing).map(([name, reason]) => `- \`${name}\`: ${reason}.`)
  return lines.length === 0 ? '' : `\n## Not on this machine\n\n${lines.join('\n')}\n`
}

function numberOf(value: number): string {
  return Number.isNaN(value) ? '–' : value.toFixed(2)
}
