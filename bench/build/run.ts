// Measures builds: ours beside other plugins, the same files, each in a process of its own, taking turns.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, isAbsolute, join } from 'node:path'
import { usableCores } from '@serve-dist/foundation/process/usable-cores'
import { Command } from 'commander'
import { choose, namesOf, positive } from '../serve/option-values.ts'
import { readPackageVersion } from '../serve/peers/find-server.ts'
import { showProgress } from '../serve/progress.ts'
import { describeRun, readMachine, readSaved, saveReport } from '../serve/report/report.ts'
import { runProcess } from '../serve/run-process.ts'
import { type BuildReport, type BuildTable, formatBuildTable } from './build-table.ts'
import type { CodecSeconds } from './codec-program.ts'
import { compareBuilds } from './compare-builds.ts'
import { type Contender, contenders as allContenders } from './contender.ts'
import { type BuildSample, runBuild } from './run-build.ts'
import { formatTargets, targetsOf } from './targets.ts'
import { prepareTree, type Tree, trees as allTrees } from './tree.ts'

interface Options {
  readonly contenders: readonly string[]
  readonly trees: readonly string[]
  readonly rounds: number
  readonly baseline?: string
  readonly save?: string
}

const { contenders, trees, rounds, baseline, save } = new Command('bench:build')
  .option('--contenders <names>', 'which plugins (default: all)', namesOf(allContenders), [])
  .option('--trees <names>', 'which files: editor, small, huge (default: all)', namesOf(allTrees), [])
  .option('--rounds <n>', 'rounds, the contenders taking turns', positive, 5)
  .option('--baseline <file>', 'compare with a saved report')
  .option('--save <file>', 'save the report; not when an output was wrong')
  .parse()
  .opts<Options>()

const saved = baseline === undefined ? undefined : await readSaved<BuildReport>('baseline', baseline)
// Other rows are compared with these two.
const always = contenders.length === 0 ? [] : ['vite', 'serve-dist']
const chosen = choose(allContenders, [...new Set([...always, ...contenders])])
// The codecs are divided among the usable cores, which may be fewer than the machine has.
const machine = { ...readMachine(), cores: usableCores() }
const tables: BuildTable[] = []
for (const tree of choose(allTrees, trees)) {
  const table = await measureTree(tree, chosen)
  if (table.rows.every((row) => row.void === undefined)) printTable(table)
  tables.push(table)
}
const report: BuildReport = {
  date: new Date().toISOString(),
  command: ['pnpm bench:build', ...process.argv.slice(2).map(withoutFolder)].join(' '),
  machine,
  tables,
}
print(`\n${describeRun(report)}, by \`${report.command}\`.`)
const wrong = tables.flatMap(({ rows }) => rows.filter((row) => row.void !== undefined))
if (wrong.length > 0) {
  const names = wrong.map((row) => `${row.contender} (${row.void})`).join(', ')
  print(`\nFailed: ${names} left out or spoiled what they should write.`)
  process.exitCode = 1
} else {
  if (save !== undefined) await saveReport(save, report)
  if (saved !== undefined) print(`\nSince ${saved.date}:\n\n${compareBuilds(report, saved)}`)
}

function printTable(table: BuildTable): void {
  const targets = formatTargets(targetsOf(table, machine.cores), table.codecSample)
  print(`\n${table.title}\n\n${formatBuildTable(table)}\n\n${targets}`)
}

/** The folder of a file says something about this machine alone. */
function withoutFolder(argument: string): string {
  return isAbsolute(argument) ? basename(argument) : argument
}

async function measureTree(tree: Tree, taking: readonly Contender[]): Promise<BuildTable> {
  showProgress(`${tree.name}: files`)
  const folder = await prepareTree(tree)
  const program = new URL('codec-program.js', import.meta.url).pathname
  showProgress(`${tree.name}: the codecs' own time`)
  const sample = tree.codecSample === undefined ? [] : [String(tree.codecSample)]
  const codecs: CodecSeconds = JSON.parse(await runProcess(process.execPath, [program, folder, ...sample]))

  const samples = new Map<Contender, BuildSample[]>(taking.map((contender) => [contender, []]))
  const voids = new Map<Contender, string>()
  const kept = await mkdtemp(join(tmpdir(), 'serve-dist-bench-cache-'))
  for (let round = 0; round < rounds; round += 1) {
    // Nobody is always the first, or always behind the same one.
    const start = round % taking.length
    for (const contender of [...taking.slice(start), ...taking.slice(0, start)]) {
      if (voids.has(contender)) continue
      showProgress(`${tree.name}: round ${round + 1} of ${rounds}, ${contender.name}`)
      try {
        samples.get(contender)?.push(await runBuild({ contender, tree: folder, kept }))
      } catch (error) {
        voids.set(contender, reasonOf(error))
      }
    }
  }
  await rm(kept, { recursive: true, force: true })

  const rows = taking.map(async (contender) => ({
    contender: contender.name,
    version: await readPackageVersion(contender.package ?? 'vite'),
    samples: voids.has(contender) ? [] : (samples.get(contender) ?? []),
    void: voids.get(contender),
  }))
  return { tree: tree.name, title: tree.title, ...codecs, rows: await Promise.all(rows) }
}

function reasonOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replaceAll(/\s+/g, ' ').slice(0, 200)
}

function print(message: string): void {
  process.stdout.write(`${message}\n`)
}
