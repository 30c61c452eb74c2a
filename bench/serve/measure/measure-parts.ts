import type { PreparedWorkload, Workload } from '../load/workload.ts'
import type { FoundServer, ServerDefinition } from '../peers/server-definition.ts'
import { showProgress } from '../progress.ts'
import { readMachine, type Report, saveReport } from '../report/report.ts'
import { removePaths } from '../report/remove-paths.ts'
import { runProcess } from '../run-process.ts'
import { type MeasureOptions, startAndCheck } from './measure.ts'
import { type RoundsInput, runRounds } from './run-rounds.ts'

/** A workload, and its servers, which take turns. */
export interface Part {
  readonly workload: Workload
  readonly servers: readonly ServerDefinition[]
  readonly roundsOfProcess?: number
  /** Processes of each server; servers and load generator then share all cores. */
  readonly workers?: number
}

/** Everything that a run measures. */
export interface PartsInput {
  readonly command: string
  readonly parts: readonly Part[]
  readonly rounds: number
  /** The file into which the report is saved after each workload. */
  readonly save?: string | undefined
  /** A report that the run adds to. */
  readonly begun?: Report | undefined
  /** Returns a function that chooses the servers of each round of a workload. */
  readonly chooserOf?: (workload: string) => RoundsInput['chooseServers']
}

/** Measures one workload after another. */
export async function measureParts(input: PartsInput, options: MeasureOptions): Promise<Report> {
  const { command, parts, rounds, save, chooserOf } = input
  const begun = input.begun ?? {
    date: new Date().toISOString(),
    command,
    commit: await readCommit(),
    machine: readMachine(),
    missing: {},
    titles: {},
    rows: [],
  }
  const rows = [...begun.rows]
  const missing = { ...begun.missing }
  const titles = { ...begun.titles }
  const report = { ...begun, missing, titles, rows }
  for (const { workload, servers: definitions, roundsOfProcess, workers } of parts) {
    const { name, title } = workload
    showProgress(`fixtures of ${name}`)
    const found = await findServers(definitions)
    Object.assign(missing, found.missing)
    const cores = `${options.serverCores},${options.loadCores}`
    const sharing = workers === undefined ? {} : { workers, serverCores: cores, loadCores: cores }
    const seconds = Math.max(options.seconds, workload.leastSeconds ?? 0)
    const measuring = { ...options, ...sharing, seconds }
    const { servers } = found
    const prepared = await fixRate(workload, servers, measuring)
    if (typeof prepared === 'string') {
      missing[name] = prepared
      continue
    }
    const chooseServers = chooserOf?.(name)
    const turns = { workload, prepared, servers, rounds, roundsOfProcess, chooseServers }
    rows.push(...(await runRounds(turns, measuring)))
    const rate = workload.rateBeside && `, ${prepared.requestsPerSecond} requests per second`
    titles[name] = title + (rate ?? '')
    if (save !== undefined) await saveReport(save, report)
  }
  return report
}

/** Returns the servers of this machine, and the reasons for missing ones, by name. */
async function findServers(
  definitions: readonly ServerDefinition[],
): Promise<{ servers: Map<string, FoundServer>; missing: Record<string, string> }> {
  const servers = new Map<string, FoundServer>()
  const missing: Record<string, string> = {}
  for (const definition of definitions) {
    const server = await definition.find()
    if (typeof server === 'string') missing[definition.name] = removePaths(server)
    else servers.set(definition.name, server)
  }
  return { servers, missing }
}

/** Prepares a workload, with its rate. Returns a text if the server that the rate depends on is missing. */
async function fixRate(
  workload: Workload,
  servers: ReadonlyMap<string, FoundServer>,
  options: MeasureOptions,
): Promise<PreparedWorkload | string> {
  const { rateBeside } = workload
  const prepared = await workload.prepare()
  if (rateBeside === undefined) return prepared
  const server = servers.get(rateBeside.server)
  if (server === undefined) return `its rate depends on ${rateBeside.server}, which is not measured`
  const started = await startAndCheck(server, prepared, options)
  try {
    const { sample } = await started.measure(options.warmUpSeconds)
    const rate = Math.round(sample.requestsPerSecond * rateBeside.share)
    return rateBeside.files === undefined
      ? { ...prepared, requestsPerSecond: rate }
      : mixWithFiles(prepared, rate, rateBeside.files)
  } finally {
    await started.stop()
  }
}

/** Distributes files evenly between the requests of a workload, whose last request is a file. */
function mixWithFiles(prepared: PreparedWorkload, rate: number, files: number): PreparedWorkload {
  const requestsPerSecond = rate + files
  const filesBefore = (index: number): number => Math.floor((index * files) / requestsPerSecond)
  const sequence = Array.from({ length: requestsPerSecond }, (_, index) =>
    filesBefore(index + 1) > filesBefore(index) ? prepared.requests.length - 1 : 0,
  )
  return { ...prepared, requestsPerSecond, sequence }
}

async function readCommit(): Promise<string> {
  const words = ['describe', '--always', '--dirty= with changes', '--exclude=*']
  return (await runProcess('git', words).catch(() => 'an unknown commit')).trim()
}
