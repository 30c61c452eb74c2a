import { shortId } from '@serve-dist/foundation/text/short-id'
import { formatTime } from './format-generations.ts'
import { findCurrent, openStoreForCommand } from './open-store-for-command.ts'
import { runInterruptibly } from './run-interruptibly.ts'
import type { RollbackFlags } from './store-flags.ts'
import { writeCommandResult } from './write-command-result.ts'

/** Makes an earlier build current again. */
export async function rollbackCommand(to: string | undefined, flags: RollbackFlags): Promise<void> {
  const opened = await openStoreForCommand('rollback', flags.store)
  const { store, library } = opened
  const { dryRun: isDryRun, singlePublisher: isSinglePublisher } = flags
  const work = async (signal: AbortSignal): Promise<void> => {
    const summary = await library.rollback(store, { to, isDryRun, isSinglePublisher, signal })
    writeCommandResult(flags, { store: store.place, ...summary }, () => {
      const { id, published, replaced } = summary
      const build = `${shortId(id)}, published ${formatTime(published)} UTC,`
      if (replaced === undefined) return `${build} is current in ${store.place} already; nothing is changed`
      return summary.isDryRun
        ? `${build} would be current in ${store.place} again, instead of ${shortId(replaced)}; nothing is changed`
        : `${build} is current in ${store.place} again, instead of ${shortId(replaced)}`
    })
  }
  await runInterruptibly(work, async (signal) => (await findCurrent(opened, signal)).state)
}
