import { readFile, rename, writeFile } from 'node:fs/promises'
import { cpus, release, totalmem, type } from 'node:os'
import { readCongestionControl } from '../congestion-control.ts'

/** The figures of a server in one round of a workload. */
export interface Sample {
  readonly requestsPerSecond: number
  readonly p50Milliseconds: number
  readonly p99Milliseconds: number
  /** The 99th percentile of the load generator's own delays, if it sends at a fixed rate; else 0. */
  readonly lateMilliseconds: number
  readonly wireBytesPerRequest: number
  readonly cpuMicrosecondsPerRequest: number
  /** Share of one core. Near 1, the server was the limit; far below 1, the load generator was. */
  readonly cpuShare: number
  readonly bootMilliseconds: number
  /** Share of one core that neither server nor load generator used during the load. */
  readonly foreignCpuShare: number
  /** Bytes of anonymous and shared pages and memory files after the load, which the system cannot reclaim. */
  readonly heldBytes: number
}

/** The rounds of a server at a workload. */
export interface Row {
  readonly server: string
  readonly version: string
  readonly workload: string
  readonly connections: number
  /** One for each round; none if the row is void. */
  readonly samples: readonly Sample[]
  readonly codings: readonly string[]
  readonly remarks: readonly string[]
  /** The reason why the row has no numbers. */
  readonly void: string | undefined
}

/** The result of a run: `--save` writes it, `--baseline` reads it. */
export interface Report {
  readonly date: string
  readonly command: string
  /** The commit of the measured code. */
  readonly commit?: string
  readonly machine: Machine
  /** Servers and workloads that were left out, with the reason. */
  readonly missing: Readonly<Record<string, string>>
  readonly titles: Readonly<Record<string, string>>
  readonly rows: readonly Row[]
}

/** The machine of a run. */
export interface Machine {
  readonly processor: string
  readonly cores: number
  readonly memoryBytes: number
  readonly system: string
  readonly node: string
  readonly congestionControl?: string
}

/** Describes this machine. */
export function readMachine(): Machine {
  return {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${type()} ${release().split('-')[0]}`,
    node: process.versions.node,
    congestionControl: readCongestionControl(),
  }
}

/** Returns the date and the machine of a run. */
export function describeRun({ date, machine }: { readonly date: string; readonly machine: Machine }): string {
  const { node, system, cores, processor } = machine
  return `${date.slice(0, 10)}, Node.js ${node}, ${system}, ${cores} cores of ${processor}`
}

/** Writes a report atomically, because a run may be stopped while it saves. */
export async function saveReport(file: string, report: unknown): Promise<void> {
  await writeFile(`${file}.unfinished`, `${JSON.stringify(report, null, 2)}\n`)
  await rename(`${file}.unfinished`, file)
}

/** Reads a saved report. If the file cannot be read, ends the program with one line and exit code 2. */
export async function readSaved<Saved>(option: string, file: string): Promise<Saved> {
  try {
    return JSON.parse(await readFile(file, 'utf8'))
  } catch (error) {
    process.stderr.write(`--${option} ${file}: ${error instanceof Error ? error.message : String(error)}\n`)
    return process.exit(2)
  }
}
