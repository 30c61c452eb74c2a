import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { OperatorError } from '@serve-dist/manifest'
import { isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'

/**
 * Creates a folder and its missing parents. The `recursive` option of Node.js never returns if a system answers ENOENT
 * instead of a permission error, as `/proc` does.
 *
 * @param folder - an absolute path.
 * @returns the created folders, the deepest first.
 */
export async function makeFolder(folder: string): Promise<readonly string[]> {
  try {
    return await makeOne(folder)
  } catch (error) {
    if (!isNotFoundError(error) || dirname(folder) === folder) throw cannotMake(folder, error)
  }
  const above = await makeFolder(dirname(folder))
  try {
    return [...(await makeOne(folder)), ...above]
  } catch (error) {
    throw cannotMake(folder, error)
  }
}

async function makeOne(folder: string): Promise<readonly string[]> {
  try {
    await mkdir(folder)
    return [folder]
  } catch (error) {
    // `mkdir` fails for an existing folder: with EEXIST, or with EROFS on a read-only disk.
    const stats = await stat(folder).catch(() => undefined)
    if (stats?.isDirectory() === true) return []
    throw error
  }
}

function cannotMake(folder: string, cause: unknown): OperatorError {
  const problem = `${folder}: cannot create the store folder (${reasonOf(cause)}). Let this user write there, or choose another folder.`
  return new OperatorError('SD_STORE_UNAVAILABLE', problem, { cause })
}
