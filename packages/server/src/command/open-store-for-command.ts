import { loadOptional, OperatorError } from '@serve-dist/manifest'
import type * as Library from '@serve-dist/store'
import { shortIds } from './short-ids.ts'

/** A store, and what can be done with it. */
export interface OpenedStore {
  readonly store: Library.StoreBackend
  readonly library: typeof Library
}

/**
 * Opens the store of `--store` for a command.
 *
 * @param command - its name.
 */
export async function openStoreForCommand(command: string, where: string | undefined): Promise<OpenedStore> {
  if (where === undefined) {
    throw new OperatorError(
      'SD_OPTION_INVALID',
      `${command} needs a store: --store <folder>, --store s3://bucket/prefix, or the environment variable SERVE_DIST_STORE`,
    )
  }
  const needed = { name: '@serve-dist/store', neededBy: `serve-dist ${command}` }
  const library = await loadOptional(needed, async () => await import('@serve-dist/store'))
  return { store: await library.openStore(where), library }
}

/** A store that has no build yet. */
export function emptyStoreError(place: string, where: string | undefined): OperatorError {
  return new OperatorError(
    'SD_GENERATION_MISSING',
    `${place}: no build was published here; serve-dist publish --store ${where} puts one in`,
  )
}

/** What is current in a store. */
export interface CurrentBuild {
  /** Absent where nothing was published yet. */
  readonly id?: string
  /** In words. */
  readonly state: string
}

/** Looks which build is current after a command was stopped, perhaps at its end. */
export async function findCurrent(
  { store, library }: OpenedStore,
  signal: AbortSignal,
): Promise<CurrentBuild> {
  const read = await library.readHistory(store, undefined, { signal })
  const id = typeof read === 'object' ? read.history.history[0]?.id : undefined
  return id === undefined
    ? { state: `${store.place} has no current build yet` }
    : { id, state: `${shortIds([id])(id)} is current in ${store.place}` }
}
