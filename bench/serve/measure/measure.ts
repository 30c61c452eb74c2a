import { h2loadLoad } from '../load/h2load-load.ts'
import { socketLoad } from '../load/socket-load.ts'
import type { LoadInput, LoadResult, PreparedWorkload } from '../load/workload.ts'
import { hasWrk, wrkLoad } from '../load/wrk-load.ts'
import type { FoundServer } from '../peers/server-definition.ts'
import type { Sample } from '../report/report.ts'
import { type CheckedServer, checkServer, recheckServer, VoidRow } from './check-server.ts'
import { readMachineClocks } from './resource-usage.ts'
import { type StartedServer, startServer } from './start-server.ts'

/** The settings of a round. */
export interface MeasureOptions {
  readonly connections: number
  readonly seconds: number
  /** 0 for none. */
  readonly warmUpSeconds: number
  /** A list for `taskset -c`. */
  readonly serverCores: string
  readonly loadCores: string
  readonly workers: number
}

/** The result of a round. */
export interface Measured extends Pick<CheckedServer, 'codings' | 'remarks'> {
  readonly sample: Sample
}

/** A checked server, for any number of rounds. */
export interface CheckedAndStarted {
  /**
   * Warms the server up, loads it and checks it again.
   *
   * @throws VoidRow if an answer is wrong during or after the load.
   */
  measure(warmUpSeconds: number): Promise<Measured>
  stop(): Promise<void>
}

/**
 * Starts a server and checks it.
 *
 * @throws VoidRow if it does not start, or if an answer is wrong.
 */
export async function startAndCheck(
  server: FoundServer,
  neutral: PreparedWorkload,
  options: Omit<MeasureOptions, 'warmUpSeconds'>,
): Promise<CheckedAndStarted> {
  const { targetOf = (target: string) => target } = server
  const requests = neutral.requests.map((request) => ({ ...request, target: targetOf(request.target) }))
  const workload = { ...neutral, requests }
  const { serverCores, loadCores: cores, workers, connections, seconds } = options
  const started = await startServer(server, workload, { cores: serverCores, workers })
  try {
    const { port } = started
    const { planned, codings, remarks } = await checkServer(port, workload)
    const { requests: _, sequence = planned.map((_planned, index) => index), ...sending } = workload
    const input: LoadInput = { ...sending, planned, sequence, port, connections, seconds, cores }
    const load = await chooseLoad(workload)
    return {
      async measure(warmUpSeconds) {
        const isWarmed = warmUpSeconds > 0 || load === h2loadLoad
        const warm = isWarmed ? await load({ ...input, seconds: warmUpSeconds }) : undefined
        const counted = warm && { ...input, requestCount: (warm.requests / warm.seconds) * seconds }
        const before = await readClocks(started)
        const result = await load(counted ?? input)
        const after = await readClocks(started)
        expectWhole(input, result)
        const heldBytes = await started.heldBytes()
        await recheckServer(port, workload)
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

async function chooseLoad({
  tls,
  newConnections,
  requestsPerSecond,
  requests,
}: PreparedWorkload): Promise<(input: LoadInput) => Promise<LoadResult>> {
  if (tls === 'h2' || (tls !== undefined && newConnections === true)) return h2loadLoad
  const isWrks = requestsPerSecond === undefined && requests.every(({ method }) => method !== 'HEAD')
  return isWrks && (await hasWrk()) ? wrkLoad : socketLoad
}

type Clocks = Awaited<ReturnType<typeof readClocks>>

async function readClocks(started: StartedServer) {
  const [serverSeconds, machine] = await Promise.all([started.cpuSeconds(), readMachineClocks()])
  return { ...machine, server: serverSeconds }
}

function sampleOf(
  { bootMilliseconds }: StartedServer,
  input: LoadInput,
  { requests, seconds, p50Milliseconds, p99Milliseconds, lateMilliseconds = 0 }: LoadResult,
  { before, after }: { readonly before: Clocks; readonly after: Clocks },
): Omit<Sample, 'heldBytes'> {
  const cpuSeconds = after.server - before.server
  const foreign = after.all - before.all - (after.harness - before.harness) - cpuSeconds
  return {
    requestsPerSecond: requests / seconds,
    p50Milliseconds,
    p99Milliseconds,
    lateMilliseconds,
    wireBytesPerRequest: meanOf(sizesOf(input)),
    cpuMicrosecondsPerRequest: (cpuSeconds * 1e6) / requests,
    cpuShare: cpuSeconds / seconds,
    bootMilliseconds,
    foreignCpuShare: Math.max(0, foreign / seconds),
  }
}

/** The lowest mean of answers on each connection. */
const leastAnswers = 4

/** Checks the sum of bytes that a generator counted, to find truncated and wrong answers. */
function expectWhole(input: LoadInput, { errors, requests, wireBytes }: LoadResult): void {
  // If the server closes a connection as the request asked, but without announcing it (RFC 9112 §9.6), wrk counts a
  // failed read. The sum of bytes still shows whether answers were whole.
  const harmless = input.newConnections === true ? 'read' : undefined
  const seen = Object.entries(errors).filter(([kind, count]) => count > 0 && kind !== harmless)
  if (seen.length > 0) {
    throw new VoidRow(`errors under load: ${seen.map(([kind, count]) => `${kind} ${count}`).join(', ')}`)
  }
  // A few answers on each connection would not include the longest waits.
  if (requests < leastAnswers * input.connections) {
    throw new VoidRow(
      `${requests} answers on ${input.connections} connections: a longer --duration is needed`,
    )
  }
  const sizes = sizesOf(input)
  const mean = meanOf(sizes)
  // At the end, answers may be in flight, and the sequence may be incomplete.
  const tolerance = requests * mean * 0.02 + input.connections * sizes.reduce((a, b) => Math.max(a, b), 0)
  if (Math.abs(wireBytes - requests * mean) > tolerance) {
    throw new VoidRow(
      `${Math.round(wireBytes / requests)} bytes an answer under load, not ${Math.round(mean)}`,
    )
  }
}

/** Returns the bytes of each answer in the sequence, from the check. */
function sizesOf({ sequence, planned }: LoadInput): readonly number[] {
  return sequence.map((index) => planned[index]?.wireBytes ?? 0)
}

function meanOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0) / sizes.length
}
