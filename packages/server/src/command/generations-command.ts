import { formatGenerations } from './format-generations.ts'
import { emptyStoreError, openStoreForCommand } from './open-store-for-command.ts'
import { runInterruptibly } from './run-interruptibly.ts'
import type { StoreFlags } from './store-flags.ts'
import { writeCommandResult } from './write-command-result.ts'

/** Lists the builds of a store. */
export async function generationsCommand(flags: StoreFlags): Promise<void> {
  const { store, library } = await openStoreForCommand('generations', flags.store)
  const work = async (signal: AbortSignal): Promise<void> => {
    const generations = await library.listGenerations(store, { signal })
    if (generations.length === 0 && flags.json !== true) {
      throw emptyStoreError(store.place, flags.store)
    }
    const colors = process.stdout.isTTY && process.stdout.hasColors()
    writeCommandResult(flags, { store: store.place, generations }, () =>
      formatGenerations(generations, colors),
    )
  }
  await runInterruptibly(work, async () => 'nothing was changed')
}
