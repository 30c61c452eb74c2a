// What workers bring on one core, on two, and with two of which a control group pays for one: requests per second
// for a small file. wrk has core 1, which with two cores it shares with the server.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { readCommandLine } from '../serve/read-command-line.ts'
import { runProcess } from '../serve/run-process.ts'
import { median } from '../serve/report/statistics.ts'
import { createQuota } from './create-quota.ts'
import { readWorkersRunOptions, usageWith } from './run-options.ts'

const defaults = { rounds: 2, seconds: 2 }
const { rounds, seconds } = readCommandLine(
  (argv) => readWorkersRunOptions(argv, defaults),
  usageWith(defaults),
)
const server = dirname(createRequire(import.meta.url).resolve('@serve-dist/server/package.json'))

interface Variant {
  readonly cores: string
  readonly workers: string
  /** The file that takes processes into a control group. */
  readonly group?: string
}

/** A core's worth of processor time, on whichever cores. */
const quota = await createQuota(1)
if (quota === undefined) process.stdout.write('No quota: this needs root and control groups\n')
const variants: readonly Variant[] = [
  { cores: '0', workers: '1' },
  { cores: '0', workers: '2' },
  { cores: '0', workers: 'auto' },
  { cores: '0,1', workers: '1' },
  { cores: '0,1', workers: '2' },
  ...(quota === undefined
    ? []
    : ['1', '2', 'auto'].map((workers) => ({ cores: '0,1', workers, group: quota.processesFile }))),
]

const directory = await mkdtemp(join(tmpdir(), 'serve-dist-bench-'))
await writeFile(join(directory, 'app.js'), 'export const size = 1\n'.repeat(50))
const samples = variants.map((): number[] => [])
const lines = variants.map(() => '')
for (let round = 0; round < rounds; round += 1) {
  for (const [index, variant] of variants.entries()) {
    process.stderr.write(`round ${round + 1} of ${rounds}: ${titleOf(variant)}\n`)
    const { line, perSecond } = await measure(variant)
    samples[index]?.push(perSecond)
    lines[index] = line
  }
}
for (const [index, variant] of variants.entries()) {
  const [, count = '1 process'] = / · (\d+ workers) of /.exec(lines[index] ?? '') ?? []
  process.stdout.write(
    `${titleOf(variant)} (${count}): ${median(samples[index] ?? []).toFixed(0)} requests per second\n`,
  )
}
await rm(directory, { recursive: true })
await quota?.remove()

function titleOf({ cores, workers, group }: Variant): string {
  return `cores ${cores}${group === undefined ? '' : ', quota of one'}, --workers ${workers}`
}

async function measure({ cores, workers, group }: Variant): Promise<{ line: string; perSecond: number }> {
  const command = [join(server, 'bin/serve-dist.js'), directory, '--port', '0', '--workers', workers]
  const enter = 'if [ -n "$1" ]; then echo $$ > "$1"; fi; shift; exec "$@"'
  const start = ['-c', enter, 'sh', group ?? '', 'taskset', '-c', cores, process.execPath, ...command]
  const child = spawn('sh', start, { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [said] = await once(child.stdout.setEncoding('utf8'), 'data')
    const line = String(said).trim()
    const url = new URL('app.js', line.slice(line.lastIndexOf(' ') + 1))
    const load = [
      '-c',
      '1',
      'wrk',
      '--threads',
      '1',
      '--connections',
      '64',
      '--duration',
      `${seconds}s`,
      url.href,
    ]
    const output = await runProcess('taskset', load)
    if (/Socket errors|Non-2xx/.test(output)) throw new Error(output)
    return { line, perSecond: Number(/Requests\/sec:\s+([\d.]+)/.exec(output)?.[1]) }
  } finally {
    child.kill('SIGTERM')
    await once(child, 'close')
  }
}
