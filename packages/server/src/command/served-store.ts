import { omitUndefined } from './omit-undefined.ts'
import type { GivenFlags } from './flags.ts'
import type { BuildSource } from '../load/build-source.ts'
import { printWarning } from '../load/load-options.ts'
import type { StoreOptions } from '../load/store-options.ts'
import type { StoreForWorkers } from '../load/store-source.ts'

/** The first process alone asks the store. */
export async function openStoreOfFlags(flags: GivenFlags): Promise<StoreForWorkers | undefined> {
  const { envFile } = flags
  const place = toStoreOptions(flags)
  if (place === undefined) return undefined
  const source = await import('../load/open-source.ts')
  return await source.loadStoreForWorkers(place, { onWarning: printWarning, ...omitUndefined({ envFile }) })
}

/** The builds that the first process has of a store. */
export async function openPrimarySource({ store }: GivenFlags): Promise<BuildSource | undefined> {
  if (store === undefined) return undefined
  const [{ openSharedSource }, { openStoreChannel }] = await Promise.all([
    import('../load/store-source.ts'),
    import('../serve/workers/open-store-channel.ts'),
  ])
  return await openSharedSource(openStoreChannel())
}

/** What the flags say of a store. */
export function toStoreOptions({ store, storeCache, noDeltas }: GivenFlags): StoreOptions | undefined {
  if (store === undefined) return undefined
  const deltas = noDeltas === true ? false : undefined
  return omitUndefined({ store, storeCache, deltas })
}
