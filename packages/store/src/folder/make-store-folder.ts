import { OperatorError } from '@serve-dist/manifest'
import { reasonOf } from '@serve-dist/foundation/files/file-error'
import { makeFolder } from '@serve-dist/foundation/files/make-folder'

/**
 * Creates a folder of a store and its missing parents.
 *
 * @param folder - an absolute path.
 * @returns the created folders, the deepest first.
 */
export async function makeStoreFolder(folder: string): Promise<readonly string[]> {
  return await makeFolder(folder).catch((cause: unknown) => {
    // The parent that is not a folder or may not be created.
    const path = cause instanceof Error && 'path' in cause ? String(cause.path) : folder
    const problem = `${path}: cannot create the store folder (${reasonOf(cause)}). Let this user write there, or choose another folder.`
    throw new OperatorError('SD_STORE_UNAVAILABLE', problem, { cause })
  })
}
