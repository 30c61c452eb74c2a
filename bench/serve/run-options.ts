import { parseArgs } from 'node:util'
import { positive } from './positive.ts'

/** What the command line asks for. */
export interface RunOptions {
  /** Parts of names; none for all. */
  readonly servers: readonly string[]
  readonly workloads: readonly string[]
  readonly connections: readonly number[]
  readonly rounds: number
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly serverCores: string
  readonly loadCores: string
  readonly workers: number
  readonly baseline: string | undefined
  readonly save: string | undefined
  readonly chart: boolean
  readonly gate: boolean
}

export const usage = `bench:serve [options]

  --servers a,b       which servers (default: all that are found)
  --workloads a,b     which workloads (default: all; with --quick, four)
  --connections a,b   connections at once (default: 64)
  --rounds n          rounds, the servers taking turns (default: 5; with --quick, 2)
  --duration s        seconds of load in a round (default: 8; with --quick, 2)
  --warm-up s         seconds of load before it (default: 3; with --quick, 1)
  --server-cores l    cores of the server, as taskset takes them (default: 0)
  --load-cores l      cores of the load generator (default: 1)
  --workers n         processes or threads of each server that can have several (default: 1)
  --quick             shorter, for a look: minutes instead of hours
  --baseline file     compare with a saved report
  --save file         save the report
  --chart             write an SVG for each workload to docs/benchmarks
  --gate              exit code 1 on a void row, or on a ratio below 0.8 of the baseline's
  --list              name servers and workloads, and what is missing
`

const slow = { rounds: 5, seconds: 8, warmUpSeconds: 3, workloads: [] }
const quick = {
  rounds: 2,
  seconds: 2,
  warmUpSeconds: 1,
  workloads: ['bundles50k', 'variant16k', 'not-modified-tag', 'script-1024k'],
}

/**
 * Reads the command line.
 *
 * @returns `list` or `help` when one is asked for instead of a run.
 * @throws TypeError that names what is wrong.
 */
export function readRunOptions(argv: readonly string[]): RunOptions | 'list' | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      servers: { type: 'string' },
      workloads: { type: 'string' },
      connections: { type: 'string' },
      rounds: { type: 'string' },
      duration: { type: 'string' },
      'warm-up': { type: 'string' },
      'server-cores': { type: 'string', default: '0' },
      'load-cores': { type: 'string', default: '1' },
      workers: { type: 'string', default: '1' },
      quick: { type: 'boolean', default: false },
      baseline: { type: 'string' },
      save: { type: 'string' },
      chart: { type: 'boolean', default: false },
      gate: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  if (values.list) return 'list'
  const defaults = values.quick ? quick : slow
  return {
    servers: listOf(values.servers) ?? [],
    workloads: listOf(values.workloads) ?? defaults.workloads,
    connections: (listOf(values.connections) ?? ['64']).map((text) => positive('connections', text)),
    rounds: positive('rounds', values.rounds ?? String(defaults.rounds)),
    seconds: positive('duration', values.duration ?? String(defaults.seconds)),
    warmUpSeconds: positive('warm-up', values['warm-up'] ?? String(defaults.warmUpSeconds)),
    serverCores: values['server-cores'],
    loadCores: values['load-cores'],
    workers: positive('workers', values.workers),
    baseline: values.baseline,
    save: values.save,
    chart: values.chart,
    gate: values.gate,
  }
}

/** The command that measures the same again, with every default that rules the numbers spelled out. */
export function commandOf(options: RunOptions): string {
  const flags = [
    ['servers', options.servers.join(',')],
    ['workloads', options.workloads.join(',')],
    ['connections', options.connections.join(',')],
    ['rounds', options.rounds],
    ['duration', options.seconds],
    ['warm-up', options.warmUpSeconds],
    ['server-cores', options.serverCores],
    ['load-cores', options.loadCores],
    ['workers', options.workers],
  ] as const
  const given = flags.filter(([, value]) => value !== '').map(([name, value]) => `--${name} ${value}`)
  return `pnpm bench:serve ${given.join(' ')}`
}

function listOf(text: string | undefined): string[] | undefined {
  return text?.split(',').filter(Boolean)
}
