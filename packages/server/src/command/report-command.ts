import { loadOptional, OperatorError } from '@serve-dist/manifest'
import type { ReportCommandOptions } from '@serve-dist/report'
import { emptyStoreError, openStoreForCommand } from './open-store-for-command.ts'
import { runInterruptibly } from './run-interruptibly.ts'

export interface ReportFlags extends ReportCommandOptions {
  readonly store?: string
}

/** Writes the report of a folder, or compares the current build of a store with the previous one. */
export async function reportCommand(
  directory: string,
  {
    isGiven,
    ...flags
  }: ReportFlags & { /** Whether the command line names the folder. */ readonly isGiven: boolean },
): Promise<void> {
  const needed = { name: '@serve-dist/report', neededBy: 'serve-dist report' }
  const report = await loadOptional(needed, async () => await import('@serve-dist/report'))
  const { store: where, ...options } = flags
  // The exit code is 1 if the build exceeds a budget.
  if (where === undefined) {
    process.exitCode = await report.reportCommand(directory, options)
    return
  }
  const extra = [
    ...(isGiven ? [`the folder ${directory}`] : []),
    ...(options.against === undefined ? [] : ['--against']),
  ]
  if (extra.length > 0) {
    throw new OperatorError(
      'SD_OPTION_INVALID',
      extra.map(
        (given) =>
          `${given} cannot be combined with --store, which supplies both builds. Remove this argument or --store.`,
      ),
    )
  }
  const { store, library } = await openStoreForCommand('report', where)
  const work = async (signal: AbortSignal): Promise<void> => {
    const latest = await library.readLatest(store, { signal })
    if (latest === undefined) throw emptyStoreError(store.place, where)
    process.exitCode = await report.reportCommand(latest, options)
  }
  await runInterruptibly(work, async () => 'nothing was changed')
}
