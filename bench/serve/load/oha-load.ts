import { existsSync } from 'node:fs'
import { cargoProgram } from '../cargo-program.ts'
import { runProcess } from '../run-process.ts'
import type { LoadInput, LoadResult } from './workload.ts'

/**
 * Loads by `oha` at a fixed rate, one URL alone; a latency begins when its request was due. A request costs it some two
 * thirds of what it costs our own generator.
 */
export async function ohaLoad(input: LoadInput): Promise<LoadResult> {
  const { requestsPerSecond = 1, connections, seconds, port, cores, planned } = input
  const [first] = planned
  if (first === undefined) throw new TypeError('a workload without requests')
  const [line = '', , ...fields] = first.text.trimEnd().split('\r\n')
  const load = `-q ${requestsPerSecond} -c ${connections} -z ${seconds}s -w --latency-correction --redirect 0`
  const output = await runProcess('taskset', [
    '-c',
    cores,
    cargoProgram('oha'),
    ...`${load} --no-tui --output-format json`.split(' '),
    ...fields.flatMap((field) => ['-H', field]),
    `http://127.0.0.1:${port}${line.split(' ')[1]}`,
  ])
  return resultOf(JSON.parse(output), first.status, first.wireBytes - first.bodyBytes)
}

/** Whether `oha` is there and can send this. */
export function canUseOha({ planned, requestsPerSecond }: LoadInput): boolean {
  return requestsPerSecond !== undefined && planned.length === 1 && existsSync(cargoProgram('oha'))
}

interface OhaReport {
  readonly summary: { readonly total: number; readonly totalData: number }
  /** In seconds. */
  readonly latencyPercentiles: { readonly p50: number; readonly p99: number }
  readonly statusCodeDistribution: Readonly<Record<string, number>>
  readonly errorDistribution: Readonly<Record<string, number>>
}

function resultOf(report: OhaReport, status: number, headBytes: number): LoadResult {
  const { summary, latencyPercentiles, statusCodeDistribution, errorDistribution } = report
  const { [status]: requests = 0, ...others } = statusCodeDistribution
  return {
    requests,
    seconds: summary.total,
    // It counts bodies alone.
    wireBytes: summary.totalData + requests * headBytes,
    p50Milliseconds: latencyPercentiles.p50 * 1000,
    p99Milliseconds: latencyPercentiles.p99 * 1000,
    errors: { ...others, ...errorDistribution },
  }
}
