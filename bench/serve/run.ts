// Measures servers in one run on one machine, with the same requests and files.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { benchDirectory } from './bench-directory.ts'
import { workloads } from './load/workloads.ts'
import { measureParts } from './measure/measure-parts.ts'
import { selectByName, formatCommandLine } from './option-values.ts'
import { servers } from './peers/servers.ts'
import { print } from './progress.ts'
import { compareBaseline, findFailures, formatComparisons } from './report/compare-baseline.ts'
import { drawChart } from './report/draw-chart.ts'
import { formatRatios } from './report/format-ratios.ts'
import { formatTable } from './report/format-table.ts'
import { isOwn } from './report/ratios.ts'
import { readSaved, type Report, type Row, saveReport } from './report/report.ts'
import { createRunCommand, measureOptionsOf, type RunDefaults, type RunOptions } from './run-options.ts'
import { median } from './statistics.ts'

interface Options extends RunOptions {
  readonly baseline?: string
  readonly from?: string
  readonly chart?: boolean
  readonly gate?: boolean
}

const slow: RunDefaults = { workloads: [], rounds: 5, duration: 8, warmUp: 3 }
const quick: RunDefaults = {
  workloads: ['bundles50k', 'variant16k', 'not-modified-tag', 'script-1024k'],
  rounds: 2,
  duration: 2,
  warmUp: 1,
}

const command = createRunCommand('bench:serve', workloads, servers)
  .option('--quick', `${quick.workloads.length} workloads in minutes instead of hours`)
  .option('--baseline <file>', 'compare with a saved report')
  .option('--from <file>', 'show a saved report instead of measuring')
  .option('--chart', 'write an SVG for each workload to docs/benchmarks')
  .option('--gate', "exit code 1 on a void row, or on a ratio below 0.8 of the baseline's")
  .parse()
const options: Options = { ...(command.opts()['quick'] === true ? quick : slow), ...command.opts() }

const { from, save } = options
// Fails before hours of measuring if the file cannot be read.
const baseline =
  options.baseline === undefined ? undefined : await readSaved<Report>('baseline', options.baseline)
const report = from === undefined ? await measureAll() : await readSaved<Report>('from', from)
if (save !== undefined) await saveReport(save, report)
for (const [name, reason] of Object.entries(report.missing)) print(`${name} is missing: ${reason}`)
for (const [workload, title] of Object.entries(report.titles)) {
  const rows = report.rows.filter((row) => row.workload === workload)
  print(`\n${title} (${workload}), ${rows[0]?.connections} connections\n\n${formatTable(rows)}`)
  if (options.chart) await writeChart(workload, rows)
}
if (report.rows.some(({ server }) => isOwn(server)))
  print(`\nRatios of serve-dist\n\n${formatRatios(report)}`)
warnOfNoise(report.rows)
const comparisons = baseline === undefined ? [] : compareBaseline(report, baseline)
if (baseline !== undefined) print(`\nSince ${baseline.date}:\n${formatComparisons(comparisons)}`)
const failures = options.gate ? findFailures(report, comparisons) : []
if (failures.length > 0) {
  print(`\nFailed:\n${failures.join('\n')}`)
  process.exitCode = 1
}

async function measureAll(): Promise<Report> {
  const chosen = selectByName(servers, options.servers)
  const parts = selectByName(workloads, options.workloads).map((workload) => ({ workload, servers: chosen }))
  const input = { command: formatCommandLine('bench:serve'), parts, rounds: options.rounds, save }
  return measureParts(input, measureOptionsOf(options))
}

function warnOfNoise(rows: readonly Row[]): void {
  const share = median(rows.flatMap(({ samples }) => samples.map(({ foreignCpuShare }) => foreignCpuShare)))
  if (share >= 0.05)
    print(`\nThe machine was not idle: other processes used ${(share * 100).toFixed(0)} % of a core.`)
}

async function writeChart(workload: string, rows: readonly Row[]): Promise<void> {
  if (rows.every((row) => row.void !== undefined)) return
  await writeFile(join(benchDirectory, `../docs/benchmarks/${workload}.svg`), drawChart(report, rows))
}
