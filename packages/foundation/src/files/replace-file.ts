import { randomUUID } from 'node:crypto'
import { mkdir, rename, unlink, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isNotFoundError } from './file-error.ts'

/**
 * Writes a temporary file and renames it, so that readers see either the old content or the new content. Creates a missing
 * folder that only the owner may enter.
 *
 * @param aside - the temporary file. A fixed name lets the next run replace the file of a killed process.
 */
export async function replaceFile(
  file: string,
  content: string | Uint8Array,
  aside: string = `${file}.${randomUUID()}.part`,
): Promise<void> {
  try {
    await writeFile(aside, content).catch(async (error: unknown) => {
      if (!isNotFoundError(error)) throw error
      await mkdir(dirname(file), { recursive: true, mode: 0o700 })
      await writeFile(aside, content)
    })
    await rename(aside, file)
  } finally {
    await unlink(aside).catch(() => {})
  }
}
