import { markdownTable } from 'markdown-table'
import { medianOf } from '../serve/report/ratios.ts'
import { describeRun, type Report, type Row, type Sample } from '../serve/report/report.ts'
import { median, spread } from '../serve/statistics.ts'
import { again } from './plan.ts'
import { type Target, targets } from './targets.ts'
import { estimate, resolutionOf, verdictOf } from './verdict.ts'

/** What a run of `bench:engine` says, as Markdown. */
export function engineDocument(report: Report): string {
  return `# The native engine beside its peers

By \`${report.command}\`, ${describeRun(report)}.
The server on one core, the load on another; servers take turns, round after round, and each is started anew. Values are
medians of the rounds, ratios are medians of the ratios within each round. ${noiseIn(report)}

## Targets

A ratio is judged where it is farther from its target than \`serve-dist-native\` is from itself, which takes two turns in each
round: \`itself\` is the farther end of that ratio's interval (95 %). Below 30 rounds, a difference of less than 10 % decides nothing; below 5, none.
What is below the target passes.

${targetTable(report)}

TLS, HTTP/2, and pages through the relay are not part of this run.

${workloadTables(report)}${missingIn(report)}`
}

function targetTable(report: Report): string {
  const headings = ['workload', 'what', 'beside', 'value', '95 %', 'itself', 'at most', 'aim', 'rounds', '']
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
}

function targetLine({ rows }: Report, target: Target, workload: string): readonly string[] {
  const { title, server, quantity, beside, atMost, aim } = target
  const values = valuesOf(rows, target, workload)
  const { median: value, low, high } = estimate(values)
  const own = beside === undefined ? spreadOf(values) : differenceFromItself(rows, workload, quantity)
  const voids = [server, beside].filter((name) => isVoid(rows, workload, name))
  const verdict = verdictOf(value, { atMost, rounds: values.length, resolution: own })
  return [
    target.workloads.length > 1 ? `${title}: ${workload.replace('answer-', '')}` : title,
    quantities[quantity] ?? quantity,
    beside ?? '–',
    numberOf(value),
    values.length === 0 ? '–' : `${numberOf(low)}–${numberOf(high)}`,
    Number.isNaN(own) ? '–' : `± ${(own * 100).toFixed(1)} %`,
    String(atMost),
    aim === undefined ? '–' : String(aim),
    String(values.length),
    values.length > 0 ? verdict : voids.length > 0 ? `not measured: ${voids.join(', ')}` : 'not measured',
  ]
}

/** A number for each round: a ratio where something stands beside, else the quantity itself. */
function valuesOf(
  rows: readonly Row[],
  { server, quantity, beside }: Target,
  workload: string,
): readonly number[] {
  const own = samplesOf(rows, workload, server).map((sample) => sample[quantity])
  return beside === undefined ? own : ratiosOf(own, quantityOf(rows, workload, beside, quantity))
}

/** How far the server that takes two turns is from itself. */
function differenceFromItself(rows: readonly Row[], workload: string, quantity: keyof Sample): number {
  const twice = rows.filter((row) => row.workload === workload && row.server.endsWith(again))
  const differences = twice.flatMap(({ server, samples }) => {
    const first = quantityOf(rows, workload, server.slice(0, -again.length), quantity)
    const ratios = ratiosOf(
      samples.map((sample) => sample[quantity]),
      first,
    )
    return ratios.length === 0 ? [] : [resolutionOf(estimate(ratios))]
  })
  return differences.length === 0 ? Number.NaN : Math.max(...differences)
}

/** Of values that stand beside nothing: how far the interval reaches from their median. */
function spreadOf(values: readonly number[]): number {
  const { median: middle } = estimate(values)
  return resolutionOf(estimate(values.map((value) => value / middle)))
}

function ratiosOf(values: readonly number[], others: readonly number[]): readonly number[] {
  return values.flatMap((value, round) => {
    const other = others[round]
    return other === undefined ? [] : [value / other]
  })
}

function quantityOf(
  rows: readonly Row[],
  workload: string,
  server: string,
  quantity: keyof Sample,
): readonly number[] {
  return samplesOf(rows, workload, server).map((sample) => sample[quantity])
}

function samplesOf(rows: readonly Row[], workload: string, server: string): readonly Sample[] {
  return rows.find((row) => row.workload === workload && row.server === server)?.samples ?? []
}

function isVoid(rows: readonly Row[], workload: string, server: string | undefined): boolean {
  return rows.some((row) => row.workload === workload && row.server === server && row.void !== undefined)
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
