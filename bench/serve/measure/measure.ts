import { h2loadLoad } from '../load/h2load-load.ts'
import { canUseOha, ohaLoad } from '../load/oha-load.ts'
import { socketLoad } from '../load/socket-load.ts'
import type { LoadInput, LoadResult, PreparedWorkload, WorkloadRequest } from '../load/workload.ts'
import { hasWrk, wrkLoad } from '../load/wrk-load.ts'
import type { FoundServer } from '../peers/server-definition.ts'
import type { Sample } from '../report/report.ts'
import { type CheckedServer, checkServer, recheckServer, VoidRow } from './check-server.ts'
import { readMachineClocks } from './resource-usage.ts'
import { type StartedServer, startServer } from './start-server.ts'

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
export interface Measured extends Pick<CheckedServer, 'codings' | 'remarks'> {
  readonly sample: Sample
}

/** A server that was checked, and can be loaded again and again. */
export interface CheckedAndStarted {
  /**
   * Warms it up, loads it and checks it again.
   *
   * @throws VoidRow when an answer is wrong under or after load.
   */
  measure(warmUpSeconds: number): Promise<Measured>
  stop(): Promise<void>
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
  const checked = await startAndCheck(server, neutral, options)
  try {
    return await checked.measure(options.warmUpSeconds)
  } finally {
    await checked.stop()
  }
}

/**
 * Starts a server and checks it.
 *
 * @throws VoidRow when it does not start, or an answer is wrong.
 */
export async function startAndCheck(
  server: FoundServer,
  neutral: PreparedWorkload,
  options: Omit<MeasureOptions, 'warmUpSeconds'>,
): Promise<CheckedAndStarted> {
  const { targetOf = (target: string) => target } = server
  const requests = neutral.requests.map((request) => ({ ...request, target: targetOf(request.target) }))
  const workload = { ...neutral, requests }
  const { serverCores: cores, loadCores, workers, connections, seconds } = options
  const started = await startServer(server, workload, { cores, workers })
  try {
    const { planned, codings, remarks } = await checkServer(started.port, workload)
    const { sequence, newConnections, tls, streams, requestsPerSecond } = workload
    const sending = { planned, sequence, newConnections, tls, streams, requestsPerSecond }
    const input: LoadInput = { ...sending, port: started.port, connections, seconds, cores: loadCores }
    const load = await chooseLoad(input, requests)
    return {
      async measure(warmUpSeconds) {
        const isWarmed = warmUpSeconds > 0 || load === h2loadLoad
        const warm = isWarmed ? await load({ ...input, seconds: warmUpSeconds }) : undefined
        const counted = warm && { ...input, requests: (warm.requests / warm.seconds) * seconds }
        await started.forgetPeak()
        const before = await readClocks(started)
        const result = await load(counted ?? input)
        const after = await readClocks(started)
        expectWhole(input, result)
        const heldBytes = await started.heldBytes()
        await recheckServer(started.port, workload)
        const sample = { ...sampleOf(started, input, result, { before, after }), heldBytes }
        return { sample, codings, remarks }
      },
      stop: () => started.stop(),
    }
  } catch (error) {
    await started.stop()
    throw error
  }
}

async function chooseLoad(
  input: LoadInput,
  requests: readonly WorkloadRequest[],
): Promise<(input: LoadInput) => Promise<LoadResult>> {
  if (input.tls === 'h2' || (input.tls !== undefined && input.newConnections)) return h2loadLoad
  if (input.requestsPerSecond !== undefined) return canUseOha(input) ? ohaLoad : socketLoad
  return requests.every(({ method }) => method === 'GET') && (await hasWrk()) ? wrkLoad : socketLoad
}

type Clocks = Awaited<ReturnType<typeof readClocks>>

async function readClocks(started: StartedServer) {
  const [usage, machine] = await Promise.all([started.usage(), readMachineClocks()])
  return { ...usage, ...machine }
}

function sampleOf(
  { bootMilliseconds }: StartedServer,
  input: LoadInput,
  { requests, seconds, p50Milliseconds, p99Milliseconds, lateMilliseconds = 0 }: LoadResult,
  { before, after }: { readonly before: Clocks; readonly after: Clocks },
): Omit<Sample, 'heldBytes'> {
  const cpuSeconds = after.cpuSeconds - before.cpuSeconds
  const foreign = after.everybody - before.everybody - (after.harness - before.harness) - cpuSeconds
  return {
    requestsPerSecond: requests / seconds,
    p50Milliseconds,
    p99Milliseconds,
    lateMilliseconds,
    wireBytesPerRequest: meanOf(sizesOf(input)),
    cpuMicrosecondsPerRequest: (cpuSeconds * 1e6) / requests,
    cpuShare: cpuSeconds / seconds,
    peakBytes: after.peakBytes,
    bootMilliseconds,
    foreignCpuShare: Math.max(0, foreign / seconds),
    stolenCpuShare: (after.stolen - before.stolen) / seconds,
  }
}

/** On each connection, in the mean. */
const leastAnswers = 4

/** The generators count bytes, so the sum shows an answer that was cut short or was another one. */
function expectWhole(input: LoadInput, { errors, requests, wireBytes }: LoadResult): void {
  // wrk counts a connection that the server closes as asked, but without saying so (RFC 9112 §9.6), as a failed
  // read; the sum of bytes still shows whether answers were whole.
  const harmless = input.newConnections ? 'read' : undefined
  const seen = Object.entries(errors).filter(([kind, count]) => count > 0 && kind !== harmless)
  if (seen.length > 0) {
    throw new VoidRow(`errors under load: ${seen.map(([kind, count]) => `${kind} ${count}`).join(', ')}`)
  }
  // The first few answers of many connections leave out the longest waits.
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
