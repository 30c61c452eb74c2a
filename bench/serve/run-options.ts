import { Command, InvalidArgumentError } from 'commander'
import type { Workload } from './load/workload.ts'
import type { MeasureOptions } from './measure/measure.ts'
import { createNamesParser, parsePositiveInteger } from './option-values.ts'
import type { ServerDefinition } from './peers/server-definition.ts'

/** Options with a default. */
export interface RunDefaults {
  /** Names or beginnings of names; none for all. */
  readonly workloads: readonly string[]
  readonly rounds: number
  readonly duration: number
  readonly warmUp: number
}

/** Common options of commands that measure servers. */
export interface RunOptions extends RunDefaults {
  /** Names or beginnings of names; none for all. */
  readonly servers: readonly string[]
  readonly connections: number
  readonly serverCores: string
  readonly loadCores: string
  readonly save?: string
}

/** Makes a command with the options that all measurements of servers have. */
export function createRunCommand(
  name: string,
  workloads: readonly Workload[],
  servers: readonly ServerDefinition[],
): Command {
  return new Command(name)
    .option(
      '--servers <names>',
      'servers to measure (default: all on this machine)',
      createNamesParser(servers),
      [],
    )
    .option('--workloads <names>', 'workloads to measure (default: all)', createNamesParser(workloads))
    .option('--connections <n>', 'concurrent connections', parsePositiveInteger, 64)
    .option('--rounds <n>', 'rounds, in which the servers take turns', parsePositiveInteger)
    .option('--duration <s>', 'seconds of load in a round', seconds)
    .option('--warm-up <s>', 'seconds of load before it', seconds)
    .option('--server-cores <cores>', 'cores of the server, for taskset -c', '0')
    .option('--load-cores <cores>', 'cores of the load generator', '1')
    .option('--save <file>', 'save the report after each workload')
}

/** Returns the options of a round. */
export function measureOptionsOf({ duration, warmUp, ...options }: RunOptions): MeasureOptions {
  return { ...options, seconds: duration, warmUpSeconds: warmUp, workers: 1 }
}

function seconds(text: string): number {
  const number = Number(text)
  if (text.trim() !== '' && Number.isFinite(number) && number >= 0) return number
  throw new InvalidArgumentError(`Expected seconds, found "${text}".`)
}
