import { realpath, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { PrecompressError } from '../precompress-error.ts'

/**
 * The real, absolute path of a folder that is there.
 *
 * @throws {@link PrecompressError} when it is not.
 */
export async function openFolder(directory: string): Promise<string> {
  const path = resolve(directory)
  try {
    if ((await stat(path)).isDirectory()) return await realpath(path)
  } catch (error) {
    throw new PrecompressError(
      [`${path}: there is no such folder; build first, or name the folder that the build went to`],
      { cause: error },
    )
  }
  throw new PrecompressError([`${path}: not a folder; name the folder that the build went to`])
}
