// Measures builds with our plugin and other plugins: the same files, each build in its own process, in turn.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countUsableCores } from '@serve-dist/foundation/process/count-usable-cores'
import { Command } from 'commander'
import {
  selectByName,
  formatCommandLine,
  createNamesParser,
  parsePositiveInteger,
} from '../serve/option-values.ts'
import { readPackageVersion } from '../serve/peers/find-server.ts'
import { print, showProgress } from '../serve/progress.ts'
import { describeRun, readMachine } from '../serve/report/report.ts'
import { runProcess } from '../serve/run-process.ts'
import { type BuildTable, formatBuildTable } from './build-table.ts'
import type { CodecSeconds } from './codec-program.ts'
import { type Contender, contenders as allContenders } from './contender.ts'
import { type BuildSample, runBuild } from './run-build.ts'
import { formatTargets, targetsOf } from './targets.ts'
import { prepareTree, type Tree, trees as allTrees } from './tree.ts'

interface Options {
  readonly contenders: readonly string[]
  readonly trees: readonly string[]
  readonly rounds: number
}

const { contenders, trees, rounds } = new Command('bench:build')
  .option('--contenders <names>', 'which plugins (default: all)', createNamesParser(allContenders), [])
  .option(
    '--trees <names>',
    'which files: editor, small, huge (default: all)',
    createNamesParser(allTrees),
    [],
  )
  .option('--rounds <n>', 'rounds, in which the contenders take turns', parsePositiveInteger, 5)
  .parse()
  .opts<Options>()

// All rows are compared with these two.
const always = contenders.length === 0 ? [] : ['vite', 'serve-dist']
const chosen = selectByName(allContenders, [...new Set([...always, ...contenders])])
// The codecs use only the usable cores, which may be fewer than the machine has.
const machine = { ...readMachine(), cores: countUsableCores() }
for (const tree of selectByName(allTrees, trees)) {
  const table = await measureTree(tree, chosen)
  print(`\n${table.title}\n\n${formatBuildTable(table)}\n\n${formatTargets(targetsOf(table, machine.cores))}`)
  if (table.rows.some((row) => row.void !== undefined)) process.exitCode = 1
}
print(
  `\n${describeRun({ date: new Date().toISOString(), machine })}, by \`${formatCommandLine('bench:build')}\`.`,
)

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
    // Each round begins with another contender.
    const start = round % taking.length
    for (const contender of [...taking.slice(start), ...taking.slice(0, start)]) {
      if (voids.has(contender)) continue
      showProgress(`${tree.name}: round ${round + 1} of ${rounds}, ${contender.name}`)
      try {
        samples.get(contender)?.push(await runBuild({ contender, tree: folder, kept }))
      } catch (error) {
        voids.set(contender, String(error).replaceAll(/\s+/g, ' ').slice(0, 200))
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
  return { title: tree.title, ...codecs, rows: await Promise.all(rows) }
}
