// The native engine beside its peers: what the targets of docs/benchmarks/engine.md are judged by, in one run.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Command } from 'commander'
import { benchDirectory } from '../serve/bench-directory.ts'
import { fixRate } from '../serve/measure/fix-rate.ts'
import type { MeasureOptions } from '../serve/measure/measure.ts'
import { choose, namesOf, positive } from '../serve/option-values.ts'
import { installCargoProgram } from '../serve/cargo-program.ts'
import { runProcess } from '../serve/run-process.ts'
import { showProgress } from '../serve/progress.ts'
import { findServers } from '../serve/find-servers.ts'
import type { ServerDefinition } from '../serve/peers/server-definition.ts'
import { readMachine, readSaved, saveReport } from '../serve/report/report.ts'
import { print } from '../start/measure-start.ts'
import { engineDocument, type EngineReport, type Piece } from './document.ts'
import { isAbout } from './judge.ts'
import { type Part, parts } from './plan.ts'
import { runPart } from './run-part.ts'
import { targets } from './targets.ts'

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
  readonly resume?: string
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
  .option('--rounds <n>', 'at most, of servers that a target is about', positive, 30)
  .option('--peer-rounds <n>', 'of the others', positive, 3)
  .option('--duration <s>', 'seconds of load in a round', Number, 1.5)
  .option('--warm-up <s>', 'seconds of load behind the start of a server', Number, 1)
  .option('--server-cores <cores>', 'cores of the server, as taskset takes them', '0')
  .option('--load-cores <cores>', 'cores of the load generator', '1')
  .option('--save <file>', 'save the report, after each workload')
  .option(
    '--resume <file>',
    'go on with what a run saved, and save it there: workloads that are in it are not measured again',
  )
  .option('--from <file>', 'measure nothing: show a saved report')
  .option('--document', 'write docs/benchmarks/engine.md')
  .parse()
  .opts<Options>()

const { from } = options
const text = engineDocument(from === undefined ? await measureAll(options) : await readSaved('from', from))
if (options.document) await writeFile(join(benchDirectory, '../docs/benchmarks/engine.md'), text)
print(text)

async function measureAll({ resume, save = resume, ...settings }: Options): Promise<EngineReport> {
  const { connections, rounds, peerRounds, duration, warmUp, serverCores, loadCores } = settings
  const cores = { serverCores, loadCores, workers: 1 }
  const measuring = { ...cores, connections, seconds: duration, warmUpSeconds: warmUp }
  const begun = await beginReport(resume)
  let report = begun
  const done = new Set(begun.pieces.flatMap(({ workloads }) => workloads))
  const chosen = parts.filter(
    ({ workload }) => choose(allWorkloads, settings.workloads).includes(workload) && !done.has(workload.name),
  )
  const isChosen = ({ name }: ServerDefinition): boolean =>
    choose(allServers, settings.servers).some((server) => server.name === name)
  showProgress('programs that cargo compiles, once')
  const peers = chosen.flatMap(({ servers }) => servers).filter(isChosen)
  if (peers.some(({ name }) => name === 'static-web-server')) await installCargoProgram('static-web-server')
  if (chosen.some(({ workload }) => workload.rateBeside !== undefined)) await installCargoProgram('oha')
  showProgress(`${mostMinutes(chosen, isChosen, settings)} minutes of measuring at most`)
  const startedAt = performance.now()
  const piece = { date: new Date().toISOString(), commit: await readCommit(), command: commandOf(settings) }
  const measured: PartReport[] = []
  for (const part of chosen) {
    showProgress(`fixtures of ${part.workload.name}`)
    const servers = part.servers.filter(isChosen)
    measured.push(await measurePart({ ...part, servers }, { ...measuring, rounds, peerRounds }))
    const minutes = Math.round((performance.now() - startedAt) / 60_000)
    const names = chosen.slice(0, measured.length).map(({ workload }) => workload.name)
    report = addTo(begun, measured, { ...piece, minutes, workloads: names })
    if (save !== undefined) await saveReport(save, report)
  }
  return report
}

/** Of all rounds; some may not be needed. A turn takes half a second more than its loads, a fifth of them a start too. */
function mostMinutes(
  chosen: readonly Part[],
  isChosen: (server: ServerDefinition) => boolean,
  { rounds, peerRounds, duration, warmUp }: Pick<Options, 'rounds' | 'peerRounds' | 'duration' | 'warmUp'>,
): number {
  const seconds = chosen.map(({ workload, servers, isFresh = false }) => {
    const turn = Math.max(duration, workload.leastSeconds ?? 0) + 0.5 + (warmUp + 1) * (isFresh ? 1 : 0.2)
    const own = targets.filter(({ workloads }) => workloads.includes(workload.name))
    const turns = servers.filter(isChosen).map(({ name }) => {
      return own.some((target) => isAbout(target, name)) ? rounds : Math.min(rounds, peerRounds)
    })
    return turns.reduce((sum, count) => sum + count, 0) * turn
  })
  return Math.ceil(seconds.reduce((sum, part) => sum + part, 0) / 60)
}

/** What one workload adds to a report. */
type PartReport = Pick<EngineReport, 'missing' | 'titles' | 'rows'>

async function measurePart(
  part: Part,
  how: MeasureOptions & Pick<Options, 'rounds' | 'peerRounds'>,
): Promise<PartReport> {
  const { name, title } = part.workload
  const { found, missing } = await findServers(part.servers)
  const prepared = await fixRate(part.workload, await part.workload.prepare(), { ...how, servers: found })
  if (typeof prepared === 'string') return { missing: { ...missing, [name]: prepared }, titles: {}, rows: [] }
  const rows = await runPart(part, { prepared, servers: found }, { ...how, onProgress: showProgress })
  const rate = prepared.requestsPerSecond
  const titles = { [name]: rate === undefined ? title : `${title}, ${rate} requests per second` }
  return { missing, titles, rows }
}

function addTo(begun: EngineReport, measured: readonly PartReport[], piece: Piece): EngineReport {
  return {
    ...begun,
    missing: Object.assign({}, begun.missing, ...measured.map(({ missing }) => missing)),
    titles: Object.assign({}, begun.titles, ...measured.map(({ titles }) => titles)),
    rows: [begun, ...measured].flatMap(({ rows }) => rows),
    pieces: [...begun.pieces, piece],
  }
}

/** A report without rows, or one that another run began on this very machine. */
async function beginReport(resume: string | undefined): Promise<EngineReport> {
  const machine = readMachine()
  if (resume === undefined) {
    const date = new Date().toISOString()
    return { date, command: commandOf(options), machine, missing: {}, titles: {}, rows: [], pieces: [] }
  }
  const saved: EngineReport = await readSaved('resume', resume)
  if (isDeepStrictEqual(saved.machine, machine)) return saved
  process.stderr.write(`--resume ${resume}: it was measured on another machine, or with another Node.js\n`)
  return process.exit(2)
}

/** Of the code that is measured. */
async function readCommit(): Promise<string> {
  const words = ['describe', '--always', '--dirty= with changes', '--exclude=*']
  return (await runProcess('git', words, { cwd: benchDirectory }).catch(() => 'an unknown commit')).trim()
}

/** The command that measures the same again. */
function commandOf({ workloads, servers, ...given }: Omit<Options, 'save' | 'resume'>): string {
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
