import { omitUndefined } from './omit-undefined.ts'
import type { GivenFlags } from './flags.ts'
import type { BuildSource } from '../load/build-source.ts'
import { printWarning } from '../load/load-options.ts'
import type { StoreOptions } from '../load/store-options.ts'
import type { StoreForWorkers } from '../load/store-source.ts'

/** Opens the store in the primary process, which shares it with the workers. */
export async function openStoreOfFlags(flags: GivenFlags): Promise<StoreForWorkers | undefined> {
  const { envFile } = flags
  const place = toStoreOptions(flags)
  if (place === undefined) return undefined
  const source = await import('../load/open-source.ts')
  return await source.loadStoreForWorkers(place, { onWarning: printWarning, ...omitUndefined({ envFile }) })
}

/** Returns the builds that the primary process shares with its workers. */
export async function openPrimarySource({ store }: GivenFlags): Promise<BuildSource | undefined> {
  if (store === undefined) return undefined
  const [{ openSharedSource }, { openStoreChannel }] = await Promise.all([
    import('../load/store-source.ts'),
    import('../serve/workers/open-store-channel.ts'),
  ])
  return await openSharedSource(openStoreChannel())
}

export function toStoreOptions({ store, storeCache, noDeltas }: GivenFlags): StoreOptions | undefined {
  if (store === undefined) return undefined
  const deltas = noDeltas === true ? false : undefined
  return omitUndefined({ store, storeCache, deltas })
}
