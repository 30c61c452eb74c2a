import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { OperatorError } from '@serve-dist/manifest'
import { isNotFoundError, reasonOf } from '@serve-dist/foundation/files/file-error'

/**
 * Makes a folder, and those above it that are missing. Node's own `recursive` never ends where a system lets nobody make
 * a folder and answers ENOENT, as `/proc` does.
 *
 * @param folder - absolute.
 * @returns the folders that were made, the deepest first.
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
    // EEXIST, or on a read-only disk EROFS: it is there.
    const stats = await stat(folder).catch(() => undefined)
    if (stats?.isDirectory() === true) return []
    throw error
  }
}

function cannotMake(folder: string, cause: unknown): OperatorError {
  const problem = `${folder}: this folder of the store cannot be made (${reasonOf(cause)}); let this user write there, or name another folder`
  return new OperatorError('SD_STORE_UNAVAILABLE', problem, { cause })
}
