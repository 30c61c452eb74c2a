import { readFile } from 'node:fs/promises'
import { isMissing, OperatorError, type OperatorErrorCode, reasonOf } from '@serve-dist/manifest'

/**
 * The text of a file that need not be there; without the byte order mark that editors of some systems begin it with.
 *
 * @throws OperatorError for a file that is there and cannot be read.
 */
export async function readOptional(
  file: string,
  code: OperatorErrorCode = 'SD_FOLDER_UNREADABLE',
): Promise<string | undefined> {
  try {
    return (await readFile(file, 'utf8')).replace(/^\uFEFF/, '')
  } catch (cause) {
    if (isMissing(cause)) return undefined
    throw new OperatorError(code, `${file}: cannot be read (${reasonOf(cause)})`, { cause })
  }
}
