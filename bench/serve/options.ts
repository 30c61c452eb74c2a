import { Command, InvalidArgumentError, Option } from 'commander'
import { workloads } from './load/workloads.ts'
import { list, namesOf, positive } from './option-values.ts'
import { servers } from './peers/servers.ts'

/** What is measured, and for how long: `--quick` and `--sweep` choose other defaults for it. */
interface Extent {
  /** Names or beginnings of names; none for all. */
  readonly servers: readonly string[]
  readonly workloads: readonly string[]
  readonly connections: readonly number[]
  readonly rounds: number
  /** In seconds. */
  readonly duration: number
  readonly warmUp: number
}

/** What the command line asks for. */
export interface RunOptions extends Extent {
  /** As `taskset -c` takes them. */
  readonly serverCores: string
  readonly loadCores: string
  readonly workers: number
  readonly baseline?: string
  readonly save?: string
  /** A saved report that is shown instead of measuring. */
  readonly from?: string
  readonly chart?: boolean
  readonly gate?: boolean
  readonly list?: boolean
}

const slow: Extent = { servers: [], workloads: [], connections: [64], rounds: 5, duration: 8, warmUp: 3 }
const quick: Extent = {
  ...slow,
  workloads: ['bundles50k', 'variant16k', 'not-modified-tag', 'script-1024k'],
  rounds: 2,
  duration: 2,
  warmUp: 1,
}
const sweep: Extent = {
  servers: 'floor,serve-dist,sirv,polka-sirv,express,fastify,hono,vinext,sveltekit-adapter-node,nginx'.split(
    ',',
  ),
  workloads: [],
  connections: [10, 64, 256],
  rounds: 3,
  duration: 1,
  warmUp: 1,
}

/** The command line; `optionsOf` reads it once it is parsed. */
export function createCommand(): Command {
  return new Command('bench:serve')
    .option('--servers <names>', 'which servers (default: all that are found)', namesOf(servers))
    .option('--workloads <names>', 'which workloads (default: all; with --quick, four)', namesOf(workloads))
    .option('--connections <numbers>', 'at once (default: 64; with --sweep, 10,64,256)', (text) =>
      list(text).map(positive),
    )
    .option('--rounds <n>', 'the servers taking turns (default: 5; --quick 2, --sweep 3)', positive)
    .option('--duration <s>', 'seconds of load in a round (default: 8; --quick 2, --sweep 1)', positive)
    .option('--warm-up <s>', 'seconds of load before it (default: 3; --quick and --sweep 1)', seconds)
    .option('--server-cores <cores>', 'cores of the server, as taskset takes them', '0')
    .option('--load-cores <cores>', 'cores of the load generator', '1')
    .option('--workers <n>', 'processes or threads of each server that can have several', positive, 1)
    .option('--quick', 'a look: minutes instead of hours')
    .addOption(new Option('--sweep', 'every workload for the ten servers that say most').conflicts('quick'))
    .option('--baseline <file>', 'compare with a saved report')
    .option('--save <file>', 'save the report, after each workload of each round')
    .option('--from <file>', 'measure nothing: show a saved report')
    .option('--chart', 'write an SVG for each workload to docs/benchmarks')
    .option('--gate', "exit code 1 on a void row, or on a ratio below 0.8 of the baseline's")
    .option('--list', 'name servers and workloads, and what is missing')
}

/** The options of a command line that was parsed, `--quick` or `--sweep` filled in. */
export function optionsOf(command: Command): RunOptions {
  const { quick: isQuick, sweep: isSweep, ...given } = command.opts<GivenOptions>()
  return { ...(isQuick === true ? quick : isSweep === true ? sweep : slow), ...given }
}

/** What commander leaves: of the extent, what was given. */
type GivenOptions = Omit<RunOptions, keyof Extent> &
  Partial<Extent> & { readonly quick?: boolean; readonly sweep?: boolean }

/** The command that measures the same again, with every default that rules the numbers spelled out. */
export function commandOf(options: RunOptions): string {
  const flags = [
    ['servers', options.servers.join(',')],
    ['workloads', options.workloads.join(',')],
    ['connections', options.connections.join(',')],
    ['rounds', options.rounds],
    ['duration', options.duration],
    ['warm-up', options.warmUp],
    ['server-cores', options.serverCores],
    ['load-cores', options.loadCores],
    ['workers', options.workers],
  ] as const
  const given = flags.filter(([, value]) => value !== '').map(([name, value]) => `--${name} ${value}`)
  return `pnpm bench:serve ${given.join(' ')}`
}

/** Not only whole ones, and none at all. */
function seconds(text: string): number {
  const number = Number(text)
  if (text.trim() !== '' && Number.isFinite(number) && number >= 0) return number
  throw new InvalidArgumentError(`Expected seconds, found "${text}".`)
}
