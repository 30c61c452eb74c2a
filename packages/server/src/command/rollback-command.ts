import { formatTime } from './format-generations.ts'
import { openGivenStore } from './open-given-store.ts'
import { shortIds } from './short-ids.ts'
import type { RollbackFlags } from './store-flags.ts'
import { writeOutcome } from './write-outcome.ts'

/** Makes an earlier build current again. */
export async function rollbackCommand(to: string | undefined, flags: RollbackFlags): Promise<void> {
  const { store, library } = await openGivenStore('rollback', flags.store)
  const { dryRun: isDryRun, singlePublisher: isSinglePublisher } = flags
  const summary = await library.rollback(store, { to, isDryRun, isSinglePublisher })
  writeOutcome(flags, { store: store.place, ...summary }, () => {
    const { id, published, replaced } = summary
    const shorten = shortIds([id, replaced ?? id])
    const build = `${shorten(id)}, published ${formatTime(published)} UTC,`
    if (replaced === undefined) return `${build} is current in ${store.place} already; nothing is changed`
    return summary.isDryRun
      ? `${build} would be current in ${store.place} again, in the place of ${shorten(replaced)}; nothing is changed`
      : `${build} is current in ${store.place} again, in the place of ${shorten(replaced)}`
  })
}
