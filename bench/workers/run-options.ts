import { parseArgs } from 'node:util'
import { positive } from '../serve/positive.ts'

/** How long is measured. */
export interface WorkersRunOptions {
  readonly rounds: number
  /** Of each load. */
  readonly seconds: number
}

/** What the programs of this folder take. */
export function usageWith({ rounds, seconds }: WorkersRunOptions): string {
  return `node bench/dist/workers/….js [options]

  --rounds n     rounds, the ways taking turns (default: ${rounds})
  --seconds s    seconds of each load (default: ${seconds})
`
}

/**
 * Reads the command line.
 *
 * @throws TypeError that names what is wrong.
 */
export function readWorkersRunOptions(argv: string[], defaults: WorkersRunOptions): WorkersRunOptions {
  const { values } = parseArgs({
    args: argv,
    options: {
      rounds: { type: 'string', default: String(defaults.rounds) },
      seconds: { type: 'string', default: String(defaults.seconds) },
    },
  })
  return { rounds: positive('rounds', values.rounds), seconds: positive('seconds', values.seconds) }
}
