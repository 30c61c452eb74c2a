import type { Command } from 'commander'
import {
  generationsFlags,
  publishFlags,
  type PublishFlags,
  purgeFlags,
  type PurgeFlags,
  rollbackFlags,
  type RollbackFlags,
  type StoreFlags,
} from './store-flags.ts'
import type { Subcommand } from './subcommand.ts'
import { defaultDirectory } from '../serve/serve-options.ts'

/** Adds the commands that look at a store, or change it. */
export function addStoreCommands(add: (subcommand: Subcommand) => Command): void {
  add({
    name: 'publish',
    summary: 'put a build into a store (rollback, purge: --help all)',
    description: 'Put a build into a store, as the current one, and prune what is old.',
    flags: publishFlags,
  })
    .argument('[dir]', 'folder of the build', defaultDirectory)
    .action(async (directory: string, flags: PublishFlags) => {
      const { publishCommand } = await import('./publish-command.ts')
      await publishCommand(directory, flags)
    })
  add({
    name: 'rollback',
    summary: 'make an earlier build of a store current again',
    description: 'Make an earlier build of a store current again, byte for byte.',
    flags: rollbackFlags,
    isRare: true,
  })
    .argument('[id]', 'build to go to, or the beginning of its id (default: the one before)')
    .action(async (id: string | undefined, flags: RollbackFlags) => {
      const { rollbackCommand } = await import('./rollback-command.ts')
      await rollbackCommand(id, flags)
    })
  add({
    name: 'generations',
    summary: 'list the builds of a store',
    description: 'List the builds that a store has, the current one first.',
    flags: generationsFlags,
    isRare: true,
  }).action(async (flags: StoreFlags) => {
    const { generationsCommand } = await import('./generations-command.ts')
    await generationsCommand(flags)
  })
  add({
    name: 'purge',
    summary: 'take a build out of a store at once',
    description: 'Take a build out of a store at once, and say which tabs will break.',
    flags: purgeFlags,
    isRare: true,
  })
    .argument('<id>', 'build to take out, or the beginning of its id')
    .action(async (id: string, flags: PurgeFlags) => {
      const { purgeCommand } = await import('./purge-command.ts')
      await purgeCommand(id, flags)
    })
}
