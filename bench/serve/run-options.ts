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
  /** Reports that were saved; none to measure. */
  readonly from: readonly string[]
  /** Whether the table goes into the documentation. */
  readonly write: boolean
  readonly chart: boolean
  readonly gate: boolean
}

export const usage = `bench:serve [options]

  --servers a,b       which servers (default: all that are found)
  --workloads a,b     which workloads (default: all; with --quick, four)
  --connections a,b   connections at once (default: 64; with --sweep, 10,64,256)
  --rounds n          rounds, the servers taking turns (default: 5; with --quick, 2; with --sweep, 3)
  --duration s        seconds of load in a round (default: 8; with --quick, 2; with --sweep, 1)
  --warm-up s         seconds of load before it (default: 3; with --quick, 1; with --sweep, 1)
  --server-cores l    cores of the server, as taskset takes them (default: 0)
  --load-cores l      cores of the load generator (default: 1)
  --workers n         processes or threads of each server that can have several (default: 1)
  --quick             shorter, for a look: minutes instead of hours
  --sweep             every workload at 10, 64 and 256 connections, for the ten servers that say most: 50 minutes
  --baseline file     compare with a saved report
  --save file         save the report, after each workload of each round
  --from a,b          measure nothing: take what was saved, of --servers, --workloads and --connections if given;
                      of several files, the later one's row counts
  --write             put the ratios into bench/README.md
  --chart             write an SVG for each workload to docs/benchmarks
  --gate              exit code 1 on a void row, or on a ratio below 0.8 of the baseline's
  --list              name servers and workloads, and what is missing
`

const slow = { servers: [], connections: [64], rounds: 5, seconds: 8, warmUpSeconds: 3, workloads: [] }
const sweep = {
  servers: [
    'floor',
    'serve-dist',
    'sirv',
    'polka-sirv',
    'express',
    'fastify',
    'hono',
    'vinext',
    'sveltekit-adapter-node',
    'nginx',
  ],
  connections: [10, 64, 256],
  rounds: 3,
  seconds: 1,
  warmUpSeconds: 1,
  workloads: [],
}
const quick = {
  servers: [],
  connections: [64],
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
      sweep: { type: 'boolean', default: false },
      from: { type: 'string' },
      write: { type: 'boolean', default: false },
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
  if (values.quick && values.sweep) throw new TypeError('--quick and --sweep: one of them')
  const from = listOf(values.from) ?? []
  // Of what was saved, everything is taken that is not asked for by name.
  const defaults =
    from.length > 0 ? { ...slow, connections: [] } : values.quick ? quick : values.sweep ? sweep : slow
  return {
    servers: listOf(values.servers) ?? defaults.servers,
    workloads: listOf(values.workloads) ?? defaults.workloads,
    connections:
      listOf(values.connections)?.map((text) => positive('connections', text)) ?? defaults.connections,
    rounds: positive('rounds', values.rounds ?? String(defaults.rounds)),
    seconds: positive('duration', values.duration ?? String(defaults.seconds)),
    warmUpSeconds: secondsOf('warm-up', values['warm-up'] ?? String(defaults.warmUpSeconds)),
    serverCores: values['server-cores'],
    loadCores: values['load-cores'],
    workers: positive('workers', values.workers),
    baseline: values.baseline,
    save: values.save,
    from,
    write: values.write,
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

/** Not only whole ones, and none at all. */
function secondsOf(option: string, text: string): number {
  const seconds = Number(text)
  if (text.trim() !== '' && Number.isFinite(seconds) && seconds >= 0) return seconds
  throw new TypeError(`--${option}: expected seconds, found "${text}"`)
}
