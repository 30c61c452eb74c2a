import { type CheckedServer, checkServer, recheckServer, VoidRow } from './check-server.ts'
import type { LoadInput, LoadResult } from '../load/load.ts'
import { type Probe, startProbe } from './probe.ts'
import { type Latencies, readClocks, type Sample, sampleOf } from './sample.ts'
import type { FoundServer } from '../peers/server-definition.ts'
import { socketLoad } from '../load/socket-load.ts'
import { type StartedServer, startServer } from './start-server.ts'
import { percentile } from '../report/statistics.ts'
import type { PreparedWorkload } from '../load/workload.ts'
import { hasWrk, wrkLoad } from '../load/wrk-load.ts'

/** How a round is run. */
export interface MeasureOptions {
  readonly connections: number
  readonly seconds: number
  /** 0 for none. */
  readonly warmUpSeconds: number
  /** As `taskset -c` takes them. */
  readonly serverCores: string
  readonly loadCores: string
  readonly workers: number
}

/** What a round shows. */
export interface Measured {
  readonly sample: Sample
  readonly codings: readonly string[]
  readonly remarks: readonly string[]
}

/**
 * Starts a server, checks it, warms it up, loads it, checks it again and stops it.
 *
 * @throws VoidRow when it does not start, or an answer is wrong before, under or after load.
 */
export async function measure(
  server: FoundServer,
  neutral: PreparedWorkload,
  options: MeasureOptions,
): Promise<Measured> {
  const workload = addressedTo(server, neutral)
  const started = await startOrVoid(server, workload, options)
  try {
    const checked = await checkServer(started.port, workload)
    return await measureStarted({ started, checked, workload }, options)
  } finally {
    await started.stop()
  }
}

/** A server that stands, and what it was checked with. */
export interface MeasuredServer {
  readonly started: StartedServer
  readonly checked: CheckedServer
  /** With the targets under which this server has the files. */
  readonly workload: PreparedWorkload
}

/**
 * Warms a server up, loads it, and checks it again.
 *
 * @throws VoidRow when an answer is wrong under or after load.
 */
export async function measureStarted(
  { started, checked, workload }: MeasuredServer,
  options: MeasureOptions,
): Promise<Measured> {
  const { codings, remarks } = checked
  const input = loadInput({ started, checked, workload, options })
  const load = (await canUseWrk(workload)) ? wrkLoad : socketLoad
  if (options.warmUpSeconds > 0) await load({ ...input, seconds: options.warmUpSeconds })

  await started.forgetPeak()
  const before = await readClocks(started)
  const probe = workload.beside === undefined ? undefined : startProbe(started.port, workload.beside)
  const result = await load(input)
  const beside = await stopOrVoid(probe)
  const after = await readClocks(started)

  expectWhole(input, result)
  await recheckServer(started.port, workload)
  const sample = sampleOf(result, {
    before,
    after,
    bootMilliseconds: started.bootMilliseconds,
    wireBytesPerRequest: meanOf(sizesOf(input)),
    ...(beside !== undefined && { beside }),
  })
  return { sample, codings, remarks }
}

/** The workload with the targets under which this server has the files. */
export function addressedTo(
  { targetOf = (target) => target }: FoundServer,
  workload: PreparedWorkload,
): PreparedWorkload {
  const requests = workload.requests.map((request) =>
    Object.assign({}, request, { target: targetOf(request.target) }),
  )
  return { ...workload, requests }
}

/**
 * Starts a server for a workload that is addressed to it.
 *
 * @throws VoidRow when it does not answer.
 */
export async function startOrVoid(
  server: FoundServer,
  workload: PreparedWorkload,
  { serverCores, workers }: Pick<MeasureOptions, 'serverCores' | 'workers'>,
): Promise<StartedServer> {
  try {
    return await startServer(server, workload, { cores: serverCores, workers })
  } catch (error) {
    throw new VoidRow(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

async function stopOrVoid(probe: Probe | undefined): Promise<Latencies | undefined> {
  if (probe === undefined) return undefined
  const latencies = await probe.stop().catch((error: unknown) => {
    throw new VoidRow(error instanceof Error ? error.message : String(error), { cause: error })
  })
  if (latencies.length < leastBeside) {
    throw new VoidRow(`${latencies.length} answers beside the load: a longer --duration is needed`)
  }
  return { p50: percentile(latencies, 0.5), p99: percentile(latencies, 0.99) }
}

interface LoadPlan extends MeasuredServer {
  readonly options: MeasureOptions
}

function loadInput({ started, checked, workload, options }: LoadPlan): LoadInput {
  return {
    port: started.port,
    planned: checked.planned,
    sequence: workload.sequence,
    newConnections: workload.newConnections,
    connections: options.connections,
    seconds: options.seconds,
    cores: options.loadCores,
  }
}

async function canUseWrk({ requests }: PreparedWorkload): Promise<boolean> {
  return requests.every(({ method }) => method === 'GET') && (await hasWrk())
}

/** Of what is asked for beside a load, one after another. */
const leastBeside = 10

/** On each connection, in the mean. */
const leastAnswers = 4

/** The generators count bytes, so an answer that was cut short or was another one shows in their sum. */
function expectWhole(input: LoadInput, { errors, requests, wireBytes }: LoadResult): void {
  // wrk takes a connection that is closed as asked, but without saying so (RFC 9112 §9.6), for a failed
  // read; the sum of bytes still tells whether answers were whole.
  const harmless = input.newConnections ? 'read' : undefined
  const seen = Object.entries(errors).filter(([kind, count]) => count > 0 && kind !== harmless)
  if (seen.length > 0) {
    throw new VoidRow(`errors under load: ${seen.map(([kind, count]) => `${kind} ${count}`).join(', ')}`)
  }
  // Of downloads side by side the first alone say little, and the longest waits are not among them.
  if (requests < leastAnswers * input.connections) {
    throw new VoidRow(
      `${requests} answers on ${input.connections} connections: a longer --duration is needed`,
    )
  }
  const sizes = sizesOf(input)
  const mean = meanOf(sizes)
  const largest = sizes.reduce((max, size) => Math.max(max, size), 0)
  // Answers may be under way at the end, and the sequence may end in its midst.
  const tolerance = requests * mean * 0.02 + input.connections * largest
  if (Math.abs(wireBytes - requests * mean) > tolerance) {
    throw new VoidRow(
      `${Math.round(wireBytes / requests)} bytes an answer under load, not ${Math.round(mean)}`,
    )
  }
}

/** Bytes of each answer in the sequence, as the check saw them. */
function sizesOf({ sequence, planned }: LoadInput): readonly number[] {
  return sequence.map((index) => planned[index]?.wireBytes ?? 0)
}

function meanOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0) / sizes.length
}
