import { type Command, Option } from 'commander'
import { commandArgument } from './command-argument.ts'
import { parseDuration } from './parse-duration.ts'
import { parseFileMode } from './parse-file-mode.ts'
import { serveDefaults } from './serve-options.ts'

/** What the command line says of the process. */
export interface ProcessFlags {
  readonly grace: number
  readonly socket?: string
  readonly socketMode: number
}

/** Adds the options of the process: how it listens and how it ends. */
export function addProcessOptions(program: Command): Command {
  return program
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
