import type { LoadResult } from '../load/load.ts'
import { type MachineClocks, readMachineClocks } from './machine-clocks.ts'
import type { ProcessUsage } from './process-tree.ts'
import type { StartedServer } from './start-server.ts'

/** One server, one workload, one round. */
export interface Sample {
  readonly requestsPerSecond: number
  readonly p50Milliseconds: number
  readonly p99Milliseconds: number
  readonly wireBytesPerRequest: number
  readonly cpuMicrosecondsPerRequest: number
  /** Of one core: near 1 the server was the limit, far below it the load generator. */
  readonly cpuShare: number
  readonly peakBytes: number
  readonly bootMilliseconds: number
  /** Of one core, while the load ran: what neither server nor load generator used. */
  readonly foreignCpuShare: number
  /** Of what was asked for beside the load. */
  readonly beside?: Latencies
}

/** In milliseconds. */
export interface Latencies {
  readonly p50: number
  readonly p99: number
}

/** What a server and the machine have used so far. */
export interface Clocks extends ProcessUsage, MachineClocks {}

/** Reads it. */
export async function readClocks(started: StartedServer): Promise<Clocks> {
  const [usage, machine] = await Promise.all([started.usage(), readMachineClocks()])
  return { ...usage, ...machine }
}

/** What a sample is made of beside the load's result. */
export interface Interval extends Pick<Sample, 'bootMilliseconds' | 'wireBytesPerRequest' | 'beside'> {
  readonly before: Clocks
  readonly after: Clocks
}

/** Puts the numbers of a round together. */
export function sampleOf(result: LoadResult, { before, after, ...known }: Interval): Sample {
  const { requests, seconds } = result
  const cpuSeconds = after.cpuSeconds - before.cpuSeconds
  const foreign = after.everybody - before.everybody - (after.harness - before.harness) - cpuSeconds
  return {
    requestsPerSecond: requests / seconds,
    p50Milliseconds: result.p50Milliseconds,
    p99Milliseconds: result.p99Milliseconds,
    ...known,
    cpuMicrosecondsPerRequest: (cpuSeconds * 1e6) / requests,
    cpuShare: cpuSeconds / seconds,
    peakBytes: after.peakBytes,
    foreignCpuShare: Math.max(0, foreign / seconds),
  }
}
