import { shortId } from '@serve-dist/foundation/text/short-id'
import { loadOptional, OperatorError } from '@serve-dist/manifest'
import type * as Library from '@serve-dist/store'

export interface OpenedStore {
  readonly store: Library.StoreBackend
  readonly library: typeof Library
}

/**
 * Opens the store of `--store` for a command.
 *
 * @param command - the name of the command, for messages.
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

/** Returns the error for a store without builds. */
export function emptyStoreError(place: string, where: string | undefined): OperatorError {
  return new OperatorError(
    'SD_GENERATION_MISSING',
    `${place}: the store has no build. Publish one: serve-dist publish --store ${where}`,
  )
}

export interface CurrentBuild {
  /** Absent if the store has no build. */
  readonly id?: string
  /** A description for the operator. */
  readonly state: string
}

/** Looks up the current build after a signal stopped a command. */
export async function findCurrent(
  { store, library }: OpenedStore,
  signal: AbortSignal,
): Promise<CurrentBuild> {
  const read = await library.readHistory(store, undefined, { signal })
  const id = typeof read === 'object' ? read.history.history[0]?.id : undefined
  return id === undefined
    ? { state: `${store.place} has no current build yet` }
    : { id, state: `${shortId(id)} is current in ${store.place}` }
}
