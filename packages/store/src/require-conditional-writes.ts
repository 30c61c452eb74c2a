import { OperatorError } from '@serve-dist/manifest'
import type { ChangeOptions } from './change-options.ts'
import type { StoreBackend } from './backend.ts'

/**
 * Checks, before a store is changed, that concurrent changes cannot overwrite each other. Also lets a folder store read
 * its clock.
 *
 * @throws OperatorError `SD_STORE_UNCONDITIONAL`.
 */
export async function requireConditionalWrites(
  store: StoreBackend,
  { isDryRun, isSinglePublisher, signal }: Pick<ChangeOptions, 'isDryRun' | 'isSinglePublisher' | 'signal'>,
): Promise<void> {
  if (isDryRun || isSinglePublisher || (await store.honoursConditions({ signal }))) return
  const problem = `${store.place}: the endpoint ignores If-Match and If-None-Match, so concurrent changes could overwrite each other. If only one job changes this store, pass --single-publisher.`
  throw new OperatorError('SD_STORE_UNCONDITIONAL', problem)
}
