import { readFile, rename, writeFile } from 'node:fs/promises'
import { cpus, release, totalmem, type } from 'node:os'

/** One server, one workload, one round. */
export interface Sample {
  readonly requestsPerSecond: number
  readonly p50Milliseconds: number
  readonly p99Milliseconds: number
  /** How late the load generator itself sent the latest 1 %, where it keeps a rate and knows; else 0. */
  readonly lateMilliseconds: number
  readonly wireBytesPerRequest: number
  readonly cpuMicrosecondsPerRequest: number
  /** Of one core: near 1 the server was the limit, far below it the load generator. */
  readonly cpuShare: number
  readonly peakBytes: number
  readonly bootMilliseconds: number
  /** Of one core, while the load ran: the share that neither server nor load generator used. */
  readonly foreignCpuShare: number
  /** Of that, what the host gave to other machines. */
  readonly stolenCpuShare: number
  /** Memory that cannot be given back, behind the load: anonymous and shared pages and memory files. */
  readonly heldBytes: number
}

/** All rounds of one server at one workload. */
export interface Row {
  readonly server: string
  readonly version: string
  readonly workload: string
  readonly connections: number
  /** One a round; none when the row is void. */
  readonly samples: readonly Sample[]
  readonly codings: readonly string[]
  readonly remarks: readonly string[]
  /** Why the row has no numbers. */
  readonly void: string | undefined
}

/** A run: what `--save` writes and `--baseline` reads. */
export interface Report {
  readonly date: string
  readonly command: string
  readonly machine: Machine
  /** Servers that were asked for and are not here, with the reason. */
  readonly missing: Readonly<Record<string, string>>
  readonly titles: Readonly<Record<string, string>>
  readonly rows: readonly Row[]
}

/** The machine that the numbers depend on. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryBytes: number
  readonly system: string
  readonly node: string
}

/** Describes the machine that this runs on. */
export function readMachine(): Machine {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${type()} ${release().split('-')[0]}`,
    node: process.versions.node,
  }
}

/** When and on what something was measured. */
export function describeRun({ date, machine }: { readonly date: string; readonly machine: Machine }): string {
  const { node, system, cores, processor } = machine
  return `${date.slice(0, 10)}, Node.js ${node}, ${system}, ${cores} cores of ${processor}`
}

/** Writes a report whole or not at all: a run saves again and again, and may be stopped at any time. */
export async function saveReport(file: string, report: unknown): Promise<void> {
  await writeFile(`${file}.unfinished`, `${JSON.stringify(report, null, 2)}\n`)
  await rename(`${file}.unfinished`, file)
}

/** Reads what `--save` wrote; a file that cannot be read ends the program with one line and exit code 2. */
export async function readSaved<Saved>(option: string, file: string): Promise<Saved> {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    process.stderr.write(`--${option} ${file}: ${error instanceof Error ? error.message : String(error)}\n`)
    return process.exit(2)
  }
}
