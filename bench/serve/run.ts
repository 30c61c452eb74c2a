// Measures servers: ours beside its peers, one machine, one run, the same requests for the same content.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { benchDirectory } from './bench-directory.ts'

import { workloads as allWorkloads } from './load/workloads.ts'
import { fixRate } from './measure/fix-rate.ts'
import { runRounds, type Turn } from './measure/run-rounds.ts'
import { choose } from './option-values.ts'
import { commandOf, createCommand, optionsOf, type RunOptions } from './options.ts'
import { findServers } from './find-servers.ts'
import { servers as allServers } from './peers/servers.ts'
import { showProgress } from './progress.ts'
import { compareBaseline, findFailures, formatComparisons } from './report/compare-baseline.ts'
import { drawChart } from './report/draw-chart.ts'
import { formatRatios } from './report/format-ratios.ts'
import { formatTable } from './report/format-table.ts'
import { isOwn, isSameLoad } from './report/ratios.ts'
import { readMachine, readSaved, type Report, type Row, saveReport } from './report/report.ts'
import { median } from './statistics.ts'

// Exit handlers, which stop the servers, run only on an exit of our own.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const options = optionsOf(createCommand().parse())
await (options.list ? list() : run(options))

async function run(settings: RunOptions): Promise<void> {
  const { from, save } = settings
  // Before hours of measuring, not after.
  const baseline =
    settings.baseline === undefined ? undefined : await readSaved<Report>('baseline', settings.baseline)
  const report = from === undefined ? await measureAll(settings) : await readSaved<Report>('from', from)
  printTables(report)
  warnOfNoise(report.rows)
  if (save !== undefined) await saveReport(save, report)
  if (settings.chart) await writeCharts(report)
  const comparisons = baseline === undefined ? [] : compareBaseline(report, baseline)
  if (baseline !== undefined) print(`\nSince ${baseline.date}:\n${formatComparisons(comparisons)}`)
  const failures = settings.gate ? findFailures(report, comparisons) : []
  if (failures.length === 0) return
  print(`\nFailed:\n${failures.join('\n')}`)
  process.exitCode = 1
}

async function measureAll(settings: RunOptions): Promise<Report> {
  const { connections, rounds, duration, warmUp, save, ...cores } = settings
  const workloads = choose(allWorkloads, settings.workloads)
  const { found: servers, missing } = await findServers(choose(allServers, settings.servers))
  for (const [name, reason] of Object.entries(missing)) print(`${name} is missing: ${reason}`)
  const measureOptions = { ...cores, seconds: duration, warmUpSeconds: warmUp }
  const turns: Turn[] = []
  for (const workload of workloads) {
    showProgress(`fixtures of ${workload.name}`)
    const atRate = { ...measureOptions, servers, connections: connections[0] ?? 64 }
    const prepared = await fixRate(workload, await workload.prepare(), atRate)
    if (typeof prepared === 'string') print(`${workload.name} is left out: ${prepared}`)
    else turns.push({ workload, prepared, servers })
  }
  // A start, two checks and the load generator's own start take some two seconds.
  const loads = rounds * turns.length * connections.length * servers.size
  showProgress(`about ${Math.ceil((loads * (duration + warmUp + 2)) / 60)} minutes of measuring`)
  const reportOf = (rows: readonly Row[]): Report => ({
    date: new Date().toISOString(),
    command: commandOf(settings),
    machine: readMachine(),
    missing,
    titles: Object.fromEntries(workloads.map(({ name, title }) => [name, title])),
    rows,
  })
  const onRows = async (rows: readonly Row[]): Promise<void> => {
    if (save !== undefined) await saveReport(save, reportOf(rows))
  }
  const input = { turns, connections, rounds, onProgress: showProgress, onRows }
  return reportOf(await runRounds(input, measureOptions))
}

async function list(): Promise<void> {
  const { found, missing } = await findServers(allServers)
  print('servers:')
  for (const [name, { version }] of found) print(`  ${name} ${version}`)
  for (const [name, reason] of Object.entries(missing)) print(`  ${name}: missing, ${reason}`)
  print('workloads:')
  for (const { name, title } of allWorkloads) print(`  ${name}: ${title}`)
}

/** The rows of each workload and number of connections. */
function loadsIn({ rows }: Report): readonly (readonly Row[])[] {
  const firsts = rows.filter((row, index) => rows.findIndex((other) => isSameLoad(row, other)) === index)
  return firsts.map((first) => rows.filter((row) => isSameLoad(row, first)))
}

function printTables(report: Report): void {
  for (const rows of loadsIn(report)) {
    const { workload = '', connections = 0 } = rows[0] ?? {}
    print(`\n${report.titles[workload] ?? workload} (${workload}), ${connections} connections\n`)
    print(formatTable(rows))
  }
  const hasOurs = report.rows.some(({ server }) => isOwn(server))
  if (hasOurs) print(`\nRatios of serve-dist\n\n${formatRatios(report)}`)
}

function warnOfNoise(rows: readonly Row[]): void {
  const shares = rows.flatMap(({ samples }) => samples.map(({ foreignCpuShare }) => foreignCpuShare))
  if (shares.length === 0 || median(shares) < 0.05) return
  print(`\nThe machine was not quiet: others used ${(median(shares) * 100).toFixed(0)} % of a core.`)
}

async function writeCharts(report: Report): Promise<void> {
  for (const rows of loadsIn(report)) {
    const drawn = rows.find((row) => row.void === undefined)
    if (drawn === undefined) continue
    const { workload, connections } = drawn
    const name = connections === 64 ? workload : `${workload}-${connections}`
    await writeFile(join(benchDirectory, `../docs/benchmarks/${name}.svg`), drawChart(report, rows))
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
