import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { shortId } from '@serve-dist/foundation/text/short-id'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { type Manifest } from '@serve-dist/manifest'
import { formatTime } from './format-generations.ts'
import { findCurrent, type OpenedStore, openStoreForCommand } from './open-store-for-command.ts'
import { runInterruptibly } from './run-interruptibly.ts'
import type { PurgeFlags } from './store-flags.ts'
import { isImmutable } from '../site/resolve-serving.ts'
import { writeCommandResult } from './write-command-result.ts'

/** Deletes a build from a store and reports which tabs will break. */
export async function purgeCommand(given: string, flags: PurgeFlags): Promise<void> {
  const opened = await openStoreForCommand('purge', flags.store)
  const { store, library } = opened
  const { dryRun: isDryRun, singlePublisher: isSinglePublisher } = flags
  const work = async (signal: AbortSignal): Promise<void> => {
    const { id } = await library.purge(store, given, { isDryRun: true, signal })
    // Count them before the purge deletes them.
    const hashedFiles = await countOwnHashedFiles(opened, id, signal)
    const summary = await library.purge(store, id, { isDryRun, isSinglePublisher, signal })
    writeCommandResult(flags, { store: store.place, hashedFiles, ...summary }, () => {
      const { blobs, bytes, rows } = summary
      const tense = summary.isDryRun ? 'would purge' : 'purged'
      const superseded = rows[0]?.superseded
      const since = superseded === undefined ? 'while it was current' : `before ${formatTime(superseded)} UTC`
      return [
        `${tense} ${shortId(id)} from ${store.place}: ${pluralize(blobs, 'object')}, ${formatBytes(bytes)}${summary.isDryRun ? '; nothing is changed' : ''}`,
        hashedFiles === 0
          ? '  no open tab breaks: other builds contain all of its hashed files'
          : `  ${pluralize(hashedFiles, 'hashed file')} in no other build: tabs that were opened\n  ${since} break if they request one`,
      ].join('\n')
    })
  }
  await runInterruptibly(work, async (signal) => {
    const { state } = await findCurrent(opened, signal)
    return `${state}. Run purge again to delete the rest.`
  })
}

async function countOwnHashedFiles(
  { store, library }: OpenedStore,
  id: string,
  signal: AbortSignal,
): Promise<number> {
  const ids = (await library.listGenerations(store, { signal })).filter(
    ({ problem }) => problem === undefined,
  )
  const others = new Set<string>()
  let own: Manifest | undefined
  // One manifest at a time: a large site's manifest takes megabytes, and a store may keep hundreds.
  for (const each of ids) {
    const manifest = await library.readGeneration(store, each.id, { signal })
    if (each.id === id) own = manifest
    else for (const { path } of manifest.files) others.add(path)
  }
  const rules = { immutable: own?.serving?.immutable ?? [] }
  return (own?.files ?? []).filter((file) => isImmutable(rules, file) && !others.has(file.path)).length
}
