import { type Command, Option } from 'commander'
import { commandArgument } from './command-argument.ts'
import { parseDuration } from './parse-duration.ts'
import { parseFileMode } from './parse-file-mode.ts'
import { parseWorkers } from './parse-workers.ts'
import { serveDefaults } from '../serve/serve-options.ts'

/** What the command line says of the process. */
export interface ProcessFlags {
  readonly workers: number
  readonly grace: number
  readonly socket?: string
  readonly socketMode: number
}

/** Adds the options of the process: how many there are, how they listen and how they end. */
export function addProcessOptions(program: Command): Command {
  return program
    .addOption(
      new Option('--workers <count>', 'processes that serve; auto: as many as there are cores to use')
        .env('WORKERS')
        .default(1)
        .argParser(commandArgument(parseWorkers)),
    )
    .addOption(
      new Option('--grace <duration>', 'what answers in flight get to finish after a signal')
        .env('GRACE')
        .default(serveDefaults.gracePeriod, '10s')
        .argParser(commandArgument(parseDuration)),
    )
    .option('--socket <path>', 'unix socket to listen on, instead of a port')
    .addOption(
      new Option('--socket-mode <mode>', "permissions of the socket's file")
        .default(serveDefaults.socketMode, '660')
        .argParser(commandArgument(parseFileMode)),
    )
}
