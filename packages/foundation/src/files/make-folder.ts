import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isNotFoundError } from './file-error.ts'

/**
 * Creates a folder and its missing parents. The `recursive` option of Node.js never returns if a system answers ENOENT
 * instead of a permission error, as `/proc` does.
 *
 * @param folder - an absolute path.
 * @param mode - the permissions of new folders.
 * @returns the created folders, the deepest first.
 */
export async function makeFolder(folder: string, mode?: number): Promise<readonly string[]> {
  try {
    return await makeOne(folder, mode)
  } catch (error) {
    if (!isNotFoundError(error) || dirname(folder) === folder) throw error
  }
  const above = await makeFolder(dirname(folder), mode)
  return [...(await makeOne(folder, mode)), ...above]
}

async function makeOne(folder: string, mode: number | undefined): Promise<readonly string[]> {
  try {
    await mkdir(folder, mode)
    return [folder]
  } catch (error) {
    // `mkdir` fails for an existing folder: with EEXIST, or with EROFS on a read-only disk.
    const stats = await stat(folder).catch(() => undefined)
    if (stats?.isDirectory() === true) return []
    throw error
  }
}
