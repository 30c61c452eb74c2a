import { randomUUID } from 'node:crypto'
import { closeSync, openSync, renameSync, rmSync } from 'node:fs'

/**
 * Creates a file that appears complete or not at all. Synchronous calls take a fraction of the CPU time, and most files are
 * small.
 *
 * @param write - receives the descriptor of a temporary file.
 */
export async function createFile(
  file: string,
  write: (descriptor: number) => Promise<void> | void,
): Promise<void> {
  // The file may be a link or a pipe, which a rename replaces.
  const aside = `${file}.${randomUUID()}.part`
  const descriptor = openSync(aside, 'wx')
  try {
    try {
      await write(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(aside, file)
  } catch (error) {
    rmSync(aside, { force: true })
    throw error
  }
}
