import { loadOptional, OperatorError } from '@serve-dist/manifest'
import type * as Library from '@serve-dist/store'

/** A store, and what can be done with it. */
export interface GivenStore {
  readonly store: Library.StoreBackend
  readonly library: typeof Library
}

/**
 * Opens the store of `--store` for a command.
 *
 * @param command - its name.
 */
export async function openGivenStore(command: string, where: string | undefined): Promise<GivenStore> {
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
