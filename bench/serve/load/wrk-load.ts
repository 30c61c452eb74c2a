import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { tlsClientEnvironment } from '../tls-files.ts'
import { countCores } from './count-cores.ts'
import type { LoadInput, LoadResult } from './workload.ts'
import { runProcess } from '../run-process.ts'

/** Sends load with `wrk`, one thread for each core. Only GET, because its parser waits for a body after HEAD. */
export async function wrkLoad(input: LoadInput): Promise<LoadResult> {
  const folder = await mkdtemp(join(tmpdir(), 'serve-dist-wrk-'))
  const script = join(folder, 'workload.lua')
  const threads = countCores(input.cores)
  try {
    await writeFile(script, scriptOf(input))
    // A slow answer is not an error; wrk's default of two seconds is too short for 256 connections.
    const load = `--timeout 10s --threads ${threads} --connections ${input.connections}`.split(' ')
    // wrk takes whole seconds only; SIGINT makes it report early.
    const length = ['--duration', `${Math.ceil(input.seconds)}s`]
    const end = ['timeout', '--preserve-status', '--signal', 'INT', String(input.seconds + 0.02)]
    const program = Number.isInteger(input.seconds) ? ['wrk'] : [...end, 'wrk']
    const url = `${input.tls === undefined ? 'http' : 'https'}://127.0.0.1:${input.port}/`
    const words = ['-c', input.cores, ...program, '--latency', '--script', script, ...load, ...length, url]
    const output = await runProcess('taskset', words, { env: { ...process.env, ...tlsClientEnvironment } })
    const result = /^RESULT (\{.*\})$/m.exec(output)?.[1]
    if (result === undefined) throw new Error(`wrk: no result in ${output.slice(-400)}`)
    return JSON.parse(result)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Tells whether `wrk` is installed. */
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
    'RESULT {"requests":%d,"seconds":%.6f,"wireBytes":%d,"p50Milliseconds":%.4f,"p99Milliseconds":%.4f,'
      .. '"errors":{"connect":%d,"read":%d,"write":%d,"status":%d,"timeout":%d}}\\n',
    summary.requests, summary.duration / 1e6, summary.bytes,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    errors.connect, errors.read, errors.write, errors.status, errors.timeout
  ))
end
`
}
