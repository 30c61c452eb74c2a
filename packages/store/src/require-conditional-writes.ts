import { OperatorError } from '@serve-dist/manifest'
import type { ChangeOptions } from './change-options.ts'
import type { StoreBackend } from './backend.ts'

/**
 * Makes sure, before a store is changed, that two who change it at once cannot overwrite each other. It also lets a store
 * read its clock.
 *
 * @throws OperatorError `SD_STORE_UNCONDITIONAL`.
 */
export async function requireConditionalWrites(
  store: StoreBackend,
  { isDryRun, isSinglePublisher, signal }: Pick<ChangeOptions, 'isDryRun' | 'isSinglePublisher' | 'signal'>,
): Promise<void> {
  if (isDryRun || isSinglePublisher || (await store.honoursConditions({ signal }))) return
  const problem = `${store.place}: the endpoint ignores If-Match and If-None-Match, so two who change the store at once could overwrite each other; where only one job ever does, pass --single-publisher`
  throw new OperatorError('SD_STORE_UNCONDITIONAL', problem)
}
