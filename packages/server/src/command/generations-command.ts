import { formatGenerations } from './format-generations.ts'
import { nothingPublished, openGivenStore } from './open-given-store.ts'
import { stopBetweenSteps } from './stop-between-steps.ts'
import type { StoreFlags } from './store-flags.ts'
import { writeOutcome } from './write-outcome.ts'

/** Lists the builds of a store. */
export async function generationsCommand(flags: StoreFlags): Promise<void> {
  const { store, library } = await openGivenStore('generations', flags.store)
  const work = async (signal: AbortSignal): Promise<void> => {
    const generations = await library.listGenerations(store, { signal })
    if (generations.length === 0 && flags.json !== true) {
      throw nothingPublished(store.place, flags.store)
    }
    const colors = process.stdout.isTTY && process.stdout.hasColors()
    writeOutcome(flags, { store: store.place, generations }, () => formatGenerations(generations, colors))
  }
  await stopBetweenSteps(work, async () => 'nothing was changed')
}
