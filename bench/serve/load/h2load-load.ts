import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runProcess } from '../run-process.ts'
import { percentile } from '../statistics.ts'
import { agreed } from '../tls-files.ts'
import { countCores } from './count-cores.ts'
import type { LoadInput, LoadResult } from './workload.ts'

/**
 * Sends load with `h2load` over TLS: HTTP/2 streams on each connection, or full handshakes at a fixed rate. Each handshake
 * uses a new client, because h2load resumes the session of a connection that it reopens.
 */
export async function h2loadLoad(input: LoadInput): Promise<LoadResult> {
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-h2load-'))
  const [targets, log] = [join(folder, 'targets'), join(folder, 'log')]
  try {
    await writeFile(targets, targetsOf(input))
    const words = ['-c', input.cores, 'h2load', ...extentOf(input), ...fieldsOf(input)]
    const offers = [`--tls13-ciphers=${agreed.cipher}`, `--groups=${agreed.group}`]
    const output = await runProcess('taskset', [...words, ...offers, '-i', targets, `--log-file=${log}`])
    const lines = (await readFile(log, 'utf8')).trimEnd().split('\n')
    return resultOf(input, output, lines)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The interval between groups of new connections, in milliseconds. */
const ratePeriod = 10

function extentOf(input: LoadInput): readonly string[] {
  const { tls, requestsPerSecond, connections, seconds, requestCount = 0, streams = 1, cores } = input
  const threads = Math.min(countCores(cores), connections)
  const protocol = tls === 'h2' ? [] : ['--h1']
  if (requestsPerSecond !== undefined) {
    const group = Math.max(1, Math.round((requestsPerSecond * ratePeriod) / 1000))
    const handshakes = Math.round((group * seconds * 1000) / ratePeriod)
    const pace = ['-r', String(group), `--rate-period=${ratePeriod}ms`]
    return [...protocol, '-n', String(handshakes), '-c', String(handshakes), ...pace]
  }
  // With a time limit, h2load does not count streams that are open at the end, and version 1.52 may not end.
  const end = ['-n', String(wholeTurns(input, requestCount))]
  return [...protocol, ...end, '-c', String(connections), '-m', String(streams), '-t', String(threads)]
}

/**
 * Returns a number of requests with equal shares of all targets, because each connection begins with the first target. Each
 * stream has at least four turns, so that the first and the last answers have little influence.
 */
function wholeTurns({ sequence, connections, streams = 1 }: LoadInput, requests: number): number {
  const turn = sequence.length * connections
  return Math.ceil(Math.max(requests, 4 * connections * streams) / turn) * turn
}

function targetsOf({ port, sequence, planned }: LoadInput): string {
  const targets = planned.map(({ text }) => text.split(' ', 2)[1] ?? '/')
  return sequence.map((index) => `https://127.0.0.1:${port}${targets[index] ?? ''}\n`).join('')
}

/** Returns all fields except those that h2load adds. */
function fieldsOf({ planned: [first] }: LoadInput): readonly string[] {
  const [, ...lines] = first?.text.trimEnd().split('\r\n') ?? []
  return lines.flatMap((line) => (/^(?:Host|Connection):/.test(line) ? [] : ['-H', line]))
}

function resultOf({ tls, planned: [first] }: LoadInput, output: string, log: readonly string[]): LoadResult {
  const counts = /^requests: .* (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout$/m.exec(output)
  const seconds = /^finished in ([\d.]+)(m?s),/m.exec(output)
  const bodies = /^traffic: .*\((\d+)\) data$/m.exec(output)
  const protocol = /^Application protocol: (.*)$/m.exec(output)?.[1]
  if (counts === null || seconds === null || bodies === null || protocol !== tls) {
    throw new Error(`h2load: no result over ${tls} in ${output.slice(-400)}`)
  }
  const [requests = 0, failed = 0, errored = 0, timeout = 0] = counts.slice(1).map(Number)
  const headBytes = first === undefined ? 0 : first.wireBytes - first.bodyBytes
  // The columns are: time of sending, status, latency in microseconds.
  const latencies = log.map((line) => Number(line.split('\t')[2]) / 1000)
  return {
    requests,
    seconds: Number(seconds[1]) / (seconds[2] === 'ms' ? 1000 : 1),
    // h2load counts no heads if a connection is closed.
    wireBytes: Number(bodies[1]) + requests * headBytes,
    p50Milliseconds: percentile(latencies, 0.5),
    p99Milliseconds: percentile(latencies, 0.99),
    errors: { failed, errored, timeout },
  }
}
