import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tlsClientEnvironment } from '../tls-files.ts'
import { countCores } from './count-cores.ts'
import type { LoadInput, LoadResult } from './workload.ts'
import { runProcess } from '../run-process.ts'

/** Loads by `wrk`, a thread for each core. Its parser waits for a body after HEAD: GET only. */
export async function wrkLoad(input: LoadInput): Promise<LoadResult> {
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-wrk-'))
  const script = join(folder, 'workload.lua')
  const threads = countCores(input.cores)
  try {
    await writeFile(script, scriptOf(input))
    const workload = ['--script', script]
    const placement = ['-c', input.cores]
    // A slow answer is not wrong: wrk's default of two seconds is too short for 256 connections.
    const load = [
      '--timeout',
      '10s',
      '--threads',
      String(threads),
      '--connections',
      String(input.connections),
    ]
    // wrk takes whole seconds only; SIGINT makes it report early.
    const length = ['--duration', `${Math.ceil(input.seconds)}s`]
    const end = ['timeout', '--preserve-status', '--signal', 'INT', String(input.seconds + 0.02)]
    const program = Number.isInteger(input.seconds) ? ['wrk'] : [...end, 'wrk']
    const url = `${input.tls === undefined ? 'http' : 'https'}://127.0.0.1:${input.port}/`
    const words = [...placement, ...program, '--latency', ...workload, ...load, ...length, url]
    const output = await runProcess('taskset', words, { env: { ...process.env, ...tlsClientEnvironment } })
    return parseOutput(output)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Whether `wrk` is on this machine. */
export async function hasWrk(): Promise<boolean> {
  // `wrk --version` prints its usage and fails.
  const error: unknown = await runProcess('wrk', ['--version']).catch((reason: unknown) => reason)
  return !(error instanceof Error && 'code' in error && error.code === 'ENOENT')
}

function scriptOf({ planned, sequence }: LoadInput): string {
  const texts = planned.map(({ text }) => `  ${JSON.stringify(text)},`)
  return `local texts = {
${texts.join('\n')}
}
local sequence = { ${sequence.map((index) => index + 1).join(', ')} }
local position = 0

function request()
  position = position % #sequence + 1
  return texts[sequence[position]]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    'RESULT {"requests":%d,"microseconds":%d,"bytes":%d,"p50":%.1f,"p99":%.1f,"errors":'
      .. '{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}}\\n',
    summary.requests, summary.duration, summary.bytes, latency:percentile(50), latency:percentile(99),
    errors.connect, errors.read, errors.write, errors.status, errors.timeout
  ))
end
`
}

interface WrkResult {
  readonly requests: number
  readonly microseconds: number
  readonly bytes: number
  readonly p50: number
  readonly p99: number
  readonly errors: LoadResult['errors']
}

function parseOutput(output: string): LoadResult {
  const text = /^RESULT (\{.*\})$/m.exec(output)?.[1]
  if (text === undefined) throw new Error(`wrk: no result in ${output.slice(-400)}`)
  const result: WrkResult = JSON.parse(text)
  return {
    requests: result.requests,
    seconds: result.microseconds / 1e6,
    wireBytes: result.bytes,
    p50Milliseconds: result.p50 / 1000,
    p99Milliseconds: result.p99 / 1000,
    errors: result.errors,
  }
}
