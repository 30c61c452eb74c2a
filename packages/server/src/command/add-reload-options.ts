import { type Command, Option } from 'commander'
import { commandArgument } from './command-argument.ts'
import { parseCount } from './parse-count.ts'
import type { ReloadFlags } from './prepare-reload-triggers.ts'

/** What the command line says of swapping builds. */
export interface SwapFlags extends ReloadFlags {
  readonly openFiles?: number
}

/** Adds the flags of swapping builds: what makes the server look for one, and what it keeps of the one before. */
export function addReloadOptions(program: Command): void {
  program
    .option('--watch', 'serve a new build as soon as its manifest is there (SIGHUP: look for one now)')
    .addOption(
      new Option(
        '--open-files <count>',
        'streamed files to keep open, so that they are served on when a build removes them (default: by what the system allows, 1000 at most)',
      ).argParser(commandArgument(parseCount)),
    )
}
