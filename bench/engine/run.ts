// The native engine beside its peers: what the targets of docs/benchmarks/engine.md are judged by, in one run.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Command } from 'commander'
import { benchDirectory } from '../serve/bench-directory.ts'
import { fixRate } from '../serve/measure/fix-rate.ts'
import { runRounds, type Turn } from '../serve/measure/run-rounds.ts'
import { choose, namesOf, positive } from '../serve/option-values.ts'
import { installCargoProgram } from '../serve/cargo-program.ts'
import { showProgress } from '../serve/progress.ts'
import type { FoundServer } from '../serve/peers/server-definition.ts'
import { readMachine, readSaved, type Report, type Row, saveReport } from '../serve/report/report.ts'
import { withoutPaths } from '../serve/report/without-paths.ts'
import { print } from '../start/measure-start.ts'
import { engineDocument } from './document.ts'
import { parts, peerNames } from './plan.ts'

interface Options {
  readonly workloads: readonly string[]
  readonly servers: readonly string[]
  readonly connections: number
  readonly rounds: number
  readonly peerRounds: number
  readonly duration: number
  readonly warmUp: number
  readonly serverCores: string
  readonly loadCores: string
  readonly save?: string
  readonly from?: string
  readonly document?: boolean
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))

const allServers = [...new Set(parts.flatMap(({ servers }) => servers))]
const allWorkloads = parts.map(({ workload }) => workload)
const options = new Command('bench:engine')
  .option('--workloads <names>', 'which workloads; by default all', namesOf(allWorkloads), [])
  .option('--servers <names>', 'which servers; by default all', namesOf(allServers), [])
  .option('--connections <n>', 'at once', positive, 64)
  .option('--rounds <n>', 'of the engine and of nginx, taking turns', positive, 30)
  .option('--peer-rounds <n>', 'of the others', positive, 5)
  .option('--duration <s>', 'seconds of load in a round', Number, 2)
  .option('--warm-up <s>', 'seconds of load before it', Number, 1)
  .option('--server-cores <cores>', 'cores of the server, as taskset takes them', '0')
  .option('--load-cores <cores>', 'cores of the load generator', '1')
  .option('--save <file>', 'save the report, after each workload of each round')
  .option('--from <file>', 'measure nothing: show a saved report')
  .option('--document', 'write docs/benchmarks/engine.md')
  .parse()
  .opts<Options>()

const { from } = options
const text = engineDocument(from === undefined ? await measureAll(options) : await readSaved('from', from))
if (options.document) await writeFile(join(benchDirectory, '../docs/benchmarks/engine.md'), text)
print(text)

async function measureAll({ connections, rounds, peerRounds, save, ...settings }: Options): Promise<Report> {
  const { duration, warmUp, serverCores, loadCores } = settings
  const measuring = { serverCores, loadCores, workers: 1, seconds: duration, warmUpSeconds: warmUp }
  const chosen = parts.filter(({ workload }) => choose(allWorkloads, settings.workloads).includes(workload))
  showProgress('programs that cargo compiles, once')
  await installCargoProgram('static-web-server')
  await installCargoProgram('oha')
  const missing: Record<string, string> = {}
  const turns: Turn[] = []
  const titles: Record<string, string> = {}
  for (const { workload, servers: definitions } of chosen) {
    showProgress(`fixtures of ${workload.name}`)
    const servers = new Map<string, FoundServer>()
    for (const definition of definitions.filter((one) =>
      choose(allServers, settings.servers).includes(one),
    )) {
      const found = await definition.find()
      if (typeof found === 'string') missing[definition.name] = withoutPaths(found)
      else servers.set(definition.name, found)
    }
    const prepared = await fixRate(workload, await workload.prepare(), { ...measuring, servers, connections })
    if (typeof prepared === 'string') {
      missing[workload.name] = prepared
      continue
    }
    const rate = prepared.requestsPerSecond
    titles[workload.name] =
      rate === undefined ? workload.title : `${workload.title}, ${rate} requests per second`
    turns.push({ workload, prepared, servers })
  }
  for (const [name, reason] of Object.entries(missing)) print(`${name} is missing: ${reason}`)
  const reportOf = (rows: readonly Row[]): Report => ({
    date: new Date().toISOString(),
    command: commandOf(options),
    machine: readMachine(),
    missing,
    titles,
    rows,
  })
  const roundsOf = (server: string, workload: string): number =>
    Math.min(
      peerNames.has(server) ? peerRounds : rounds,
      parts.find((part) => part.workload.name === workload)?.mostRounds ?? rounds,
    )
  // A start, two checks and the load generator's own start take some two seconds.
  const loads = turns.flatMap(({ workload, servers }) =>
    [...servers.keys()].map((server) => roundsOf(server, workload.name)),
  )
  const seconds = loads.reduce((sum, count) => sum + count, 0) * (duration + warmUp + 2)
  showProgress(`about ${Math.ceil(seconds / 60)} minutes of measuring`)
  const input = {
    turns,
    connections: [connections],
    rounds,
    roundsOf,
    onProgress: showProgress,
    onRows: async (rows: readonly Row[]) => {
      if (save !== undefined) await saveReport(save, reportOf(rows))
    },
  }
  return reportOf(await runRounds(input, measuring))
}

/** The command that measures the same again. */
function commandOf({ workloads, servers, ...given }: Options): string {
  const flags = [
    ['workloads', workloads.join(',')],
    ['servers', servers.join(',')],
    ['connections', given.connections],
    ['rounds', given.rounds],
    ['peer-rounds', given.peerRounds],
    ['duration', given.duration],
    ['warm-up', given.warmUp],
    ['server-cores', given.serverCores],
    ['load-cores', given.loadCores],
  ] as const
  const words = flags.filter(([, value]) => value !== '').map(([name, value]) => `--${name} ${value}`)
  return `pnpm bench:engine ${words.join(' ')}`
}
