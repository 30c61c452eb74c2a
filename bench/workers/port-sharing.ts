// How workers share a port best: connections handed out by the primary (rr), one socket that all accept from
// (none), a socket for each (reuseport, where this Node has it).
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { performance } from 'node:perf_hooks'
import { fileURLToPath } from 'node:url'
import { readCommandLine } from '../serve/read-command-line.ts'
import { runProcess } from '../serve/run-process.ts'
import { median, percentile } from '../serve/report/statistics.ts'
import { readWorkersRunOptions, usageWith } from './run-options.ts'

const defaults = { rounds: 2, seconds: 2 }
const { rounds, seconds } = readCommandLine(
  (argv) => readWorkersRunOptions(argv, defaults),
  usageWith(defaults),
)
const program = fileURLToPath(new URL('sharing-server.js', import.meta.url))
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const hasReusePort = major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12)
const ways = hasReusePort ? ['rr', 'none', 'reuseport'] : ['rr', 'none']

interface Sample {
  readonly kept64: number
  readonly kept256: number
  readonly new64: number
  /** Of connections that are opened at once, the share of the worker that gets the most. */
  readonly largestShare: number
  /** Milliseconds that a request on a new connection takes while a worker computes; 99 of 100 take less. */
  readonly besideBlocked: number
}

const samples = new Map<string, Sample[]>(ways.map((way) => [way, []]))
for (let round = 0; round < rounds; round += 1) {
  for (const way of ways) {
    process.stderr.write(`round ${round + 1} of ${rounds}: ${way}\n`)
    samples.get(way)?.push(await measure(way))
  }
}
process.stdout.write(
  `Node ${process.versions.node}, 2 workers, medians of ${rounds} rounds; wrk shares the cores with them\n`,
)
for (const [way, taken] of samples) {
  const of = (name: keyof Sample): number => median(taken.map((sample) => sample[name]))
  process.stdout.write(
    `${way.padEnd(9)} kept, 64: ${of('kept64').toFixed(0)}/s; kept, 256: ${of('kept256').toFixed(0)}/s; new, 64: ${of('new64').toFixed(0)}/s; ` +
      `largest share of 256: ${of('largestShare').toFixed(2)}; beside a blocked worker: p99 ${of('besideBlocked').toFixed(1)} ms\n`,
  )
}

async function measure(way: string): Promise<Sample> {
  const child = spawn(process.execPath, [program, way, '2'], { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [said] = await once(child.stdout.setEncoding('utf8'), 'data')
    const url = new URL(`http://127.0.0.1:${Number(said)}/`)
    await load(url, 64, [], 1)
    return {
      kept64: await load(url, 64, [], seconds),
      kept256: await load(url, 256, [], seconds),
      new64: await load(url, 64, ['--header', 'Connection: close'], seconds),
      largestShare: await shareOf(url, 256),
      besideBlocked: await besideBlocked(url),
    }
  } finally {
    child.kill('SIGTERM')
    await once(child, 'close')
  }
}

async function load(url: URL, connections: number, more: readonly string[], length: number): Promise<number> {
  const size = ['--threads', '1', '--connections', String(connections), '--duration', `${length}s`]
  const output = await runProcess('wrk', [...size, ...more, url.href])
  if (/Socket errors|Non-2xx/.test(output)) throw new Error(output)
  return Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1])
}

async function shareOf(url: URL, connections: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: connections })
  const workers = await Promise.all(Array.from({ length: connections }, () => ask(url, agent)))
  agent.destroy()
  const counts = new Map<string, number>()
  for (const worker of workers) counts.set(worker, (counts.get(worker) ?? 0) + 1)
  return Math.max(...counts.values()) / connections
}

async function besideBlocked(url: URL): Promise<number> {
  const end = performance.now() + seconds * 1000
  const times: number[] = []
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const block = async (): Promise<void> => {
    while (performance.now() < end) await ask(new URL('/block', url), agent)
    agent.destroy()
  }
  const askOn = async (): Promise<void> => {
    while (performance.now() < end) {
      const begin = performance.now()
      await ask(url, false)
      times.push(performance.now() - begin)
    }
  }
  await Promise.all([block(), askOn()])
  return percentile(times, 0.99)
}

/** Which worker answered. */
async function ask(url: URL, agent: Agent | false): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => {
      const { 'x-worker': worker } = response.headers
      response.resume().once('end', () => resolve(String(worker)))
    }).once('error', reject)
  })
}
