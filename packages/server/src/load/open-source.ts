import { loadOptional } from '@serve-dist/manifest'
import type { BuildSource } from './build-source.ts'
import { folderSource } from './folder-source.ts'
import type { ResolvedLoadSiteOptions } from './load-options.ts'
import { describeIgnoredOptions, resolveStoreOptions, type StoreOptions } from './store-options.ts'
import type * as StoreSource from './store-source.ts'
import type { StoreSourceContext, StoreForWorkers } from './store-source.ts'

/** A folder, a store of builds, or an open source. */
export type BuildPlace = string | StoreOptions | BuildSource

/** @throws OperatorError if the source cannot be opened. */
export async function openSource(place: BuildPlace, options: ResolvedLoadSiteOptions): Promise<BuildSource> {
  if (typeof place !== 'object' || place === null) return folderSource(place)
  if ('open' in place) return place
  const store = resolveStoreOptions(place)
  for (const text of describeIgnoredOptions(options)) options.onWarning(text)
  const { openStoreSource } = await loadStoreSource(place)
  return await openStoreSource(store, options)
}

/** Opens a store that this process shares with its workers. */
export async function loadStoreForWorkers(
  place: StoreOptions,
  options: StoreSourceContext,
): Promise<StoreForWorkers> {
  const { openStoreForWorkers } = await loadStoreSource(place)
  return await openStoreForWorkers(resolveStoreOptions(place), options)
}

/** Loads the code for stores only if it is needed. */
async function loadStoreSource({ store }: StoreOptions): Promise<typeof StoreSource> {
  return await loadOptional(
    { name: '@serve-dist/store', neededBy: `${store}: a store of builds` },
    async () => await import('./store-source.ts'),
  )
}
