// Measures the native engine and its peers in one run, and judges the targets of docs/benchmarks/engine.md.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Option } from 'commander'
import { benchDirectory } from '../serve/bench-directory.ts'
import { setCongestionControl } from '../serve/congestion-control.ts'
import { measureParts } from '../serve/measure/measure-parts.ts'
import type { RoundsInput } from '../serve/measure/run-rounds.ts'
import { selectByName, formatCommandLine, parsePositiveInteger } from '../serve/option-values.ts'
import { print } from '../serve/progress.ts'
import { readMachine, readSaved, type Report } from '../serve/report/report.ts'
import {
  createRunCommand,
  measureOptionsOf,
  type RunDefaults,
  type RunOptions,
} from '../serve/run-options.ts'
import { engineDocument } from './document.ts'
import { needsServer, isDecided } from './evaluate-target.ts'
import { parts } from './plan.ts'
import { targets } from './targets.ts'

interface Options extends RunOptions {
  readonly peerRounds: number
  readonly document?: string
}

const defaults: RunDefaults = { workloads: [], rounds: 30, duration: 1.5, warmUp: 1 }
const workloads = parts.map(({ workload }) => workload)
const servers = [...new Set(parts.flatMap((part) => part.servers))]
const command = createRunCommand('bench:engine', workloads, servers)
  .option('--peer-rounds <n>', 'rounds of servers that no target needs', parsePositiveInteger, 3)
  .addOption(new Option('--document [name]', 'write docs/benchmarks/<name>.md').preset('engine'))
  .option(
    '--congestion-control <name>',
    'set it for the whole system until the run ends',
    setCongestionControl,
  )
  .addHelpText('after', '\nIf the file of --save exists, only its missing workloads are measured.')
  .parse()
const options: Options = { ...defaults, ...command.opts() }

const { document } = options
const text = engineDocument(await measureAll(options))
if (document !== undefined) await writeFile(join(benchDirectory, `../docs/benchmarks/${document}.md`), text)
print(text)

async function measureAll({ save, rounds, ...settings }: Options): Promise<Report> {
  const begun = save !== undefined && existsSync(save) ? await readBegun(save) : undefined
  const chosen = selectByName(workloads, settings.workloads)
  const isChosen = new Set(selectByName(servers, settings.servers).map(({ name }) => name))
  const wanted = parts
    .filter(({ workload }) => chosen.includes(workload) && begun?.titles[workload.name] === undefined)
    .map((part) =>
      Object.assign({}, part, { servers: part.servers.filter(({ name }) => isChosen.has(name)) }),
    )
  const input = { command: formatCommandLine('bench:engine'), parts: wanted, rounds, save, begun, chooserOf }
  return measureParts(input, measureOptionsOf(options))
}

async function readBegun(file: string): Promise<Report> {
  const saved = await readSaved<Report>('save', file)
  if (isDeepStrictEqual(saved.machine, readMachine())) return saved
  process.stderr.write(`--save ${file}: another machine or Node.js measured it. Choose another file.\n`)
  return process.exit(2)
}

/** Chooses servers until they had all rounds, or until further rounds cannot change a verdict. */
function chooserOf(workload: string): RoundsInput['chooseServers'] {
  // A server never comes back, because its later rounds could not be paired with those of other servers.
  let undecided = targets.filter(({ workloads: names }) => names.includes(workload))
  return (round, rows) => {
    undecided = undecided.filter((target) => !isDecided(rows, target, workload))
    return (server) => round <= options.peerRounds || undecided.some((target) => needsServer(target, server))
  }
}
