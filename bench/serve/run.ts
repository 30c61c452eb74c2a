import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { benchDirectory } from './bench-directory.ts'
import { choose } from './choose.ts'
import { compareBaseline, type Comparison, formatComparisons } from './compare-baseline.ts'
import { drawChart } from './draw-chart.ts'
import { findFailures } from './find-failures.ts'
import { formatTable } from './format-table.ts'
import { isSameLoad } from './ratio-to.ts'
import { readCommandLine } from './read-command-line.ts'
import { readMachine } from './read-machine.ts'
import type { Report, Row } from './report.ts'
import { commandOf, readRunOptions, type RunOptions, usage } from './run-options.ts'
import { runRounds } from './run-rounds.ts'
import type { FoundServer, ServerDefinition } from './server-definition.ts'
import { servers as allServers } from './servers.ts'
import { median } from './statistics.ts'
import type { Workload } from './workload.ts'
import { workloads as allWorkloads } from './workloads.ts'

// Exit handlers, which stop the servers, run only on an exit of our own.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const options = readCommandLine(readRunOptions, usage)
if (options === 'help') print(usage)
else if (options === 'list') await list()
else await run(options)

async function run(settings: RunOptions): Promise<void> {
  const workloads = choose(allWorkloads, settings.workloads)
  const { found, missing } = await findServers(settings.servers)
  for (const [name, reason] of Object.entries(missing)) print(`${name} is missing: ${reason}`)

  const rows: Row[] = []
  for (const workload of workloads) rows.push(...(await runWorkload(workload, found, settings)))

  const report: Report = {
    date: new Date().toISOString(),
    command: commandOf(settings),
    machine: readMachine(),
    missing,
    titles: Object.fromEntries(workloads.map(({ name, title }) => [name, title])),
    rows,
  }
  warnOfNoise(rows)
  if (settings.save !== undefined) await writeFile(settings.save, `${JSON.stringify(report, null, 2)}\n`)
  if (settings.chart) await writeCharts(report)
  const comparisons = settings.baseline === undefined ? [] : await compare(report, settings.baseline)
  if (settings.gate) failOn(findFailures(report, comparisons))
}

async function runWorkload(
  workload: Workload,
  allFound: ReadonlyMap<string, FoundServer>,
  settings: RunOptions,
): Promise<readonly Row[]> {
  progress(`${workload.name}: fixtures`)
  const prepared = await workload.prepare()
  const servers = workload.servers === undefined ? allFound : await findAmong(workload.servers, allFound)
  const tables: Row[] = []
  for (const connections of settings.connections) {
    const input = { workload, prepared, servers, rounds: settings.rounds, onProgress: progress }
    const rows = await runRounds(input, { ...settings, connections })
    print(`\n${workload.title} (${workload.name}), ${connections} connections\n${formatTable(rows)}`)
    tables.push(...rows)
  }
  return tables
}

async function findServers(
  names: readonly string[],
): Promise<{ found: Map<string, FoundServer>; missing: Record<string, string> }> {
  const found = new Map<string, FoundServer>()
  const missing: Record<string, string> = {}
  for (const definition of choose(allServers, names)) {
    const server = await definition.find()
    if (typeof server === 'string') missing[definition.name] = server
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
  const { found, missing } = await findServers([])
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

async function compare(report: Report, baselinePath: string): Promise<readonly Comparison[]> {
  const baseline: Report = JSON.parse(await readFile(baselinePath, 'utf8'))
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

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[2K${text}\r`)
}
