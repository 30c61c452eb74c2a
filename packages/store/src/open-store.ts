import { resolve } from 'node:path'
import { OperatorError } from '@serve-dist/manifest'
import type { StoreBackend } from './backend.ts'
import { openFolderStore } from './folder/open-folder-store.ts'

/**
 * Opens a store; nothing is asked of it yet.
 *
 * @param where - a folder, which the first publish makes, or `s3://bucket/prefix`.
 * @throws OperatorError `SD_PACKAGE_MISSING` where S3 is asked for without its package, `SD_OPTION_INVALID` for a place
 * that cannot be.
 */
export async function openStore(where: string): Promise<StoreBackend> {
  if (/^s3:/i.test(where)) {
    const { openS3Store } = await import('./s3/open-s3-store.ts')
    return await openS3Store(where)
  }
  // A folder of that name would be made, and the build be in no bucket.
  if (where === '' || /^[a-z][a-z\d+.-]+:\/\//i.test(where)) {
    const problem = `${JSON.stringify(where)}: expected the path of a folder, or s3://bucket/prefix`
    throw new OperatorError('SD_OPTION_INVALID', problem)
  }
  return openFolderStore(resolve(where))
}
