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

export function addStoreCommands(add: (subcommand: Subcommand) => Command): void {
  add({
    name: 'publish',
    summary: 'publish a build to a store (more: --help all)',
    description: 'Publish a build to a store, make it current, and delete old builds.',
    flags: publishFlags,
  })
    .argument('[dir]', 'folder of the build', defaultDirectory)
    .action(async (directory: string, flags: PublishFlags) => {
      const { publishCommand } = await import('./publish-command.ts')
      await publishCommand(directory, flags)
    })
  add({
    name: 'rollback',
    summary: 'go back to an earlier build of a store',
    description: 'Go back to an earlier build of a store.',
    flags: rollbackFlags,
    isRare: true,
  })
    .argument('[id]', 'id of the build, or its first characters (default: the previous build)')
    .action(async (id: string | undefined, flags: RollbackFlags) => {
      const { rollbackCommand } = await import('./rollback-command.ts')
      await rollbackCommand(id, flags)
    })
  add({
    name: 'generations',
    summary: 'list the builds of a store',
    description: 'List the builds of a store, the current build first.',
    flags: generationsFlags,
    isRare: true,
  }).action(async (flags: StoreFlags) => {
    const { generationsCommand } = await import('./generations-command.ts')
    await generationsCommand(flags)
  })
  add({
    name: 'purge',
    summary: 'delete a build from a store',
    description: 'Delete a build from a store immediately, and report which open tabs will break.',
    flags: purgeFlags,
    isRare: true,
  })
    .argument('<id>', 'id of the build, or its first characters')
    .action(async (id: string, flags: PurgeFlags) => {
      const { purgeCommand } = await import('./purge-command.ts')
      await purgeCommand(id, flags)
    })
}
