import { resolve } from 'node:path'
import { OperatorError } from '@serve-dist/manifest'
import type { StoreBackend } from './backend.ts'
import { openFolderStore } from './folder/open-folder-store.ts'

/**
 * Opens a store. Sends no request.
 *
 * @param where - a folder, which the first publish creates, or `s3://bucket/prefix`.
 * @throws OperatorError `SD_PACKAGE_MISSING` if the S3 package is not installed, `SD_OPTION_INVALID` if the place is
 * invalid.
 */
export async function openStore(where: string): Promise<StoreBackend> {
  if (/^s3:/i.test(where)) {
    const { openS3Store } = await import('./s3/open-s3-store.ts')
    return await openS3Store(where)
  }
  // Without this check, a misspelled URL would create a folder of that name.
  if (where === '' || /^[a-z][a-z\d+.-]+:\/\//i.test(where)) {
    const problem = `${JSON.stringify(where)}: expected the path of a folder, or s3://bucket/prefix`
    throw new OperatorError('SD_OPTION_INVALID', problem)
  }
  return openFolderStore(resolve(where))
}
