import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { benchDirectory } from './bench-directory.ts'
import { choose } from './choose.ts'
import { compareBaseline, type Comparison, formatComparisons } from './report/compare-baseline.ts'
import { drawChart } from './report/draw-chart.ts'
import { estimateSeconds } from './estimate-seconds.ts'
import { findFailures } from './report/find-failures.ts'
import { formatRatios } from './report/format-ratios.ts'
import { formatTable } from './report/format-table.ts'
import { mergeReports } from './report/merge-reports.ts'
import { placeBetween } from './report/place-between.ts'
import { showProgress } from './progress.ts'
import { isSameLoad } from './report/ratio-to.ts'
import { readCommandLine } from './read-command-line.ts'
import { readMachine } from './report/read-machine.ts'
import { endUnreadable, readSaved } from './report/read-saved.ts'
import type { Report, Row } from './report/report.ts'
import { commandOf, readRunOptions, type RunOptions, usage } from './run-options.ts'
import { runProcess } from './run-process.ts'
import { runRounds } from './measure/run-rounds.ts'
import type { FoundServer, ServerDefinition } from './peers/server-definition.ts'
import { servers as allServers } from './peers/servers.ts'
import { median } from './report/statistics.ts'
import type { Turn } from './measure/turn.ts'
import { withoutPaths } from './report/without-paths.ts'
import { workloads as allWorkloads } from './load/workloads.ts'

// Exit handlers, which stop the servers, run only on an exit of our own.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const chosen = readCommandLine((argv) => {
  const options = readRunOptions(argv)
  if (typeof options === 'string' || options.from.length > 0) return { options, servers: [], workloads: [] }
  return {
    options,
    servers: choose(allServers, options.servers),
    workloads: choose(allWorkloads, options.workloads),
  }
}, usage)
if (chosen.options === 'help') print(usage)
else if (chosen.options === 'list') await list()
else await run(chosen.options).catch(endUnreadable)

async function run(settings: RunOptions): Promise<void> {
  // Before hours of measuring, not after.
  const baseline =
    settings.baseline === undefined ? undefined : await readSaved<Report>('baseline', settings.baseline)
  const report = settings.from.length > 0 ? await readReports(settings) : await measureAll(settings)
  printTables(report)
  warnOfNoise(report.rows)
  if (settings.save !== undefined) await saveReport(settings.save, report)
  if (settings.chart) await writeCharts(report)
  if (settings.write) await writeRatios(report)
  const comparisons = baseline === undefined ? [] : compare(report, baseline)
  if (settings.gate) failOn(findFailures(report, comparisons))
}

async function readReports(settings: RunOptions): Promise<Report> {
  const reports = settings.from.map((file) => readSaved<Report>('from', file))
  return mergeReports(await Promise.all(reports), settings)
}

async function measureAll(settings: RunOptions): Promise<Report> {
  const { found, missing } = await findServers(chosen.servers)
  for (const [name, reason] of Object.entries(missing)) print(`${name} is missing: ${reason}`)
  const turns: Turn[] = []
  for (const workload of chosen.workloads) {
    showProgress('fixtures', workload.name)
    const prepared = await workload.prepare()
    const servers = workload.servers === undefined ? found : await findAmong(workload.servers, found)
    turns.push({ workload, prepared, servers })
  }
  showProgress(`about ${Math.ceil(estimateSeconds(turns, settings) / 60)} minutes of measuring`)
  const reportOf = (rows: readonly Row[]): Report => ({
    date: new Date().toISOString(),
    command: commandOf(settings),
    machine: readMachine(),
    missing,
    titles: Object.fromEntries(chosen.workloads.map(({ name, title }) => [name, title])),
    rows,
  })
  const { connections, rounds, save } = settings
  const onRows = async (rows: readonly Row[]): Promise<void> => {
    if (save !== undefined) await saveReport(save, reportOf(rows))
  }
  return reportOf(await runRounds({ turns, connections, rounds, onProgress: showProgress, onRows }, settings))
}

/** Whole or not at all: it is written again and again, and a run may be stopped at any time. */
async function saveReport(file: string, report: Report): Promise<void> {
  await writeFile(`${file}.unfinished`, `${JSON.stringify(report, null, 2)}\n`)
  await rename(`${file}.unfinished`, file)
}

function printTables({ rows, titles }: Report): void {
  const firsts = rows.filter((row, index) => rows.findIndex((other) => isSameLoad(row, other)) === index)
  for (const { workload, connections } of firsts) {
    const table = formatTable(rows.filter((row) => isSameLoad(row, { workload, connections })))
    print(`\n${titles[workload] ?? workload} (${workload}), ${connections} connections\n${table}`)
  }
}

/** Into the documentation, as the repository formats it. */
async function writeRatios(report: Report): Promise<void> {
  const document = join(benchDirectory, 'README.md')
  await writeFile(document, placeBetween(await readFile(document, 'utf8'), 'servers', formatRatios(report)))
  await runProcess(join(benchDirectory, '../node_modules/.bin/oxfmt'), [document])
}

async function findServers(
  definitions: readonly ServerDefinition[],
): Promise<{ found: Map<string, FoundServer>; missing: Record<string, string> }> {
  const found = new Map<string, FoundServer>()
  const missing: Record<string, string> = {}
  for (const definition of definitions) {
    const server = await definition.find()
    if (typeof server === 'string') missing[definition.name] = withoutPaths(server)
    else found.set(definition.name, server)
  }
  return { found, missing }
}

/** A workload's own servers, as far as those of the same names take part. */
async function findAmong(
  definitions: readonly ServerDefinition[],
  taking: ReadonlyMap<string, FoundServer>,
): Promise<ReadonlyMap<string, FoundServer>> {
  const found = new Map<string, FoundServer>()
  for (const definition of definitions) {
    const server = await definition.find()
    if (taking.has(definition.name) && typeof server !== 'string') found.set(definition.name, server)
  }
  return found
}

async function list(): Promise<void> {
  const { found, missing } = await findServers(allServers)
  print('servers:')
  for (const [name, { version }] of found) print(`  ${name} ${version}`)
  for (const [name, reason] of Object.entries(missing)) print(`  ${name}: missing, ${reason}`)
  print('workloads:')
  for (const { name, title } of allWorkloads) print(`  ${name}: ${title}`)
}

function warnOfNoise(rows: readonly Row[]): void {
  const shares = rows.flatMap(({ samples }) => samples.map(({ foreignCpuShare }) => foreignCpuShare))
  if (shares.length === 0 || median(shares) < 0.05) return
  print(`\nThe machine was not quiet: others used ${(median(shares) * 100).toFixed(0)} % of a core.`)
}

async function writeCharts(report: Report): Promise<void> {
  const folder = join(benchDirectory, '../docs/benchmarks')
  await mkdir(folder, { recursive: true })
  for (const first of report.rows.filter((row) => row.void === undefined)) {
    const rows = report.rows.filter((row) => isSameLoad(row, first))
    if (rows.find((row) => row.void === undefined) !== first) continue
    const name = first.connections === 64 ? first.workload : `${first.workload}-${first.connections}`
    await writeFile(join(folder, `${name}.svg`), drawChart(report, rows))
  }
}

function compare(report: Report, baseline: Report): readonly Comparison[] {
  const comparisons = compareBaseline(report, baseline)
  print(`\nSince ${baseline.date}:\n${formatComparisons(comparisons)}`)
  return comparisons
}

function failOn(failures: readonly string[]): void {
  if (failures.length === 0) return
  print(`\nFailed:\n${failures.join('\n')}`)
  process.exitCode = 1
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
