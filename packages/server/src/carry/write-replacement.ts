import { randomUUID } from 'node:crypto'
import { closeSync, openSync, renameSync, rmSync } from 'node:fs'

/**
 * Writes a temporary file in parts, and renames it, so that the file appears complete or not at all. With `replaceFile`, whose
 * calls are asynchronous, decoding a file takes as long as downloading it.
 *
 * @param write - receives the descriptor of the temporary file.
 */
export async function writeReplacement(
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
