// Measures builds: ours beside other plugins, the same files, each in a process of its own, taking turns.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'
import { usableCores } from '@serve-dist/precompress'
import { benchDirectory } from '../serve/bench-directory.ts'
import { choose } from '../serve/choose.ts'
import { readCommandLine } from '../serve/read-command-line.ts'
import { readMachine } from '../serve/report/read-machine.ts'
import { endUnreadable, readSaved } from '../serve/report/read-saved.ts'
import { runProcess } from '../serve/run-process.ts'
import type { BuildReport, BuildRow, BuildTable } from './build-report.ts'
import type { CodecSeconds } from './codec-program.ts'
import { checkoutBefore } from './checkout-before.ts'
import { compareBuilds } from './compare-builds.ts'
import { type Contender, contenders as allContenders } from './contender.ts'
import { countFlushes } from './count-flushes.ts'
import { formatBuildTable } from './format-build-table.ts'
import { placeTables } from './place-tables.ts'
import { type BuildSample, runBuild } from './run-build.ts'
import { type BuildRunOptions, readBuildRunOptions, usage } from './run-options.ts'
import { formatTargets, targetsOf } from './targets-of.ts'
import { prepareTree, type Tree, trees as allTrees } from './tree.ts'

const options = readCommandLine(readBuildRunOptions, usage)
if (options === 'help') print(usage)
else if (options.from.length > 0) await showSaved(options).catch(endUnreadable)
else await run(options)

async function showSaved({ from, write }: BuildRunOptions): Promise<void> {
  for (const file of from) {
    const report = await readSaved<BuildReport>('from', file)
    for (const table of report.tables) printTable(table, report.machine.cores)
    if (write) await writeTables(report)
  }
}

async function run(settings: BuildRunOptions): Promise<void> {
  // What every other row is compared with is always there.
  const names = settings.contenders.length === 0 ? [] : ['vite', 'serve-dist', ...settings.contenders]
  const chosen = choose(allContenders, [...new Set(names)])
  const { baseline } = settings
  const saved = baseline === undefined ? undefined : await readIfSaved(baseline)
  const before = baseline === undefined || saved !== undefined ? [] : [await checkoutBefore(baseline)]
  const contenders = [...chosen, ...before]
  // What the codecs are divided among, which may be fewer than the machine has.
  const machine = { ...readMachine(), cores: usableCores() }
  const tables: BuildTable[] = []
  for (const tree of choose(allTrees, settings.trees)) {
    const table = await measureTree(tree, contenders, settings)
    const isWhole = table.rows.every((row) => row.void === undefined)
    if (isWhole) printTable(table, machine.cores)
    tables.push(table)
  }
  const report: BuildReport = {
    date: new Date().toISOString(),
    command: ['pnpm bench:build', ...process.argv.slice(2).map(withoutFolder)].join(' '),
    machine,
    tables,
  }
  const wrong = tables.flatMap(({ rows }) => rows.filter((row) => row.void !== undefined))
  if (wrong.length > 0) {
    print(
      `\nFailed: ${wrong.map((row) => `${row.contender} (${row.void})`).join(', ')} left out or spoiled what they should write.`,
    )
    process.exitCode = 1
    return
  }
  if (settings.save !== undefined) await writeFile(settings.save, `${JSON.stringify(report, null, 2)}\n`)
  if (saved !== undefined) print(`\nSince ${saved.date}:\n\n${compareBuilds(report, saved)}`)
  if (before.length > 0) print(`\nSince ${baseline}:\n\n${compareBuilds(report, reportOfBefore(report))}`)
  if (settings.write) await writeTables(report)
}

function printTable(table: BuildTable, cores: number): void {
  const targets = formatTargets(targetsOf(table, cores), table.codecSample)
  print(`\n${table.title}\n\n${formatBuildTable(table)}\n\n${targets}`)
}

/** What is saved where is of this machine alone. */
function withoutFolder(argument: string): string {
  return isAbsolute(argument) ? basename(argument) : argument
}

/** Into the documentation, as the repository formats it. */
async function writeTables(report: BuildReport): Promise<void> {
  const document = join(benchDirectory, 'README.md')
  await writeFile(document, placeTables(await readFile(document, 'utf8'), report))
  await runProcess(join(benchDirectory, '../node_modules/.bin/oxfmt'), [document])
}

/** A report that was saved; nothing when there is no such file, and a git ref is meant. */
async function readIfSaved(file: string): Promise<BuildReport | undefined> {
  const json = await readFile(file, 'utf8').catch(() => undefined)
  return json === undefined ? undefined : JSON.parse(json)
}

/** The rows of ours as it was, under today's name. */
function reportOfBefore(report: BuildReport): BuildReport {
  const tables = report.tables.map(({ rows, ...table }) => ({
    ...table,
    rows: rows
      .filter(({ contender }) => contender === 'serve-dist-before')
      .map((row) => Object.assign({}, row, { contender: 'serve-dist' })),
  }))
  return { ...report, tables }
}

async function measureTree(
  tree: Tree,
  contenders: readonly Contender[],
  { rounds, flushes }: BuildRunOptions,
): Promise<BuildTable> {
  progress(`${tree.name}: files`)
  const folder = await prepareTree(tree)
  const program = new URL('codec-program.js', import.meta.url).pathname
  progress(`${tree.name}: the codecs' own time`)
  const sample = tree.codecSample === undefined ? [] : [String(tree.codecSample)]
  const codecs: CodecSeconds = JSON.parse(await runProcess(process.execPath, [program, folder, ...sample]))

  const samples = new Map<Contender, BuildSample[]>(contenders.map((contender) => [contender, []]))
  const voids = new Map<Contender, string>()
  const kept = await mkdtemp(join(tmpdir(), 'serve-dist-bench-cache-'))
  for (let round = 0; round < rounds; round += 1) {
    for (const contender of turn(contenders, round)) {
      if (voids.has(contender)) continue
      progress(`${tree.name}: round ${round + 1} of ${rounds}, ${contender.name}`)
      try {
        samples.get(contender)?.push(await runBuild({ contender, tree: folder, kept }))
      } catch (error) {
        voids.set(contender, reasonOf(error))
      }
    }
  }

  await rm(kept, { recursive: true, force: true })

  const rows: BuildRow[] = []
  for (const contender of contenders) {
    const isCounted = flushes && !voids.has(contender) && contender.package === '@serve-dist/vite'
    rows.push({
      contender: contender.name,
      version: versionOf(contender),
      samples: voids.has(contender) ? [] : (samples.get(contender) ?? []),
      flushes: isCounted ? await countFlushes({ contender, tree: folder }) : undefined,
      void: voids.get(contender),
    })
  }
  return { tree: tree.name, title: tree.title, ...codecs, rows }
}

/** Nobody is always the first, or always behind the same one. */
function turn<Item>(items: readonly Item[], by: number): readonly Item[] {
  const start = by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}

function versionOf({ package: name = 'vite' }: Contender): string {
  const require = createRequire(import.meta.url)
  const folders = require.resolve.paths(name) ?? []
  for (const folder of folders) {
    try {
      const { version }: { version: string } = require(`${folder}/${name}/package.json`)
      return version
    } catch {
      // Not in this folder, perhaps in one above.
    }
  }
  return ''
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').slice(0, 200)
}

function print(message: string): void {
  process.stdout.write(`${message}\n`)
}

function progress(message: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[2K${message}\r`)
}
