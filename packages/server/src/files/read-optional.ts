import { readFile } from 'node:fs'
import { promisify } from 'node:util'
import { OperatorError, type OperatorErrorCode } from '@serve-dist/manifest'
import { describeUnreadable, isNotFoundError } from '@serve-dist/foundation/files/file-error'
import { closeDescriptor, openRegularFile } from './open-regular-file.ts'

const readDescriptor = promisify(readFile)

/**
 * Returns the text of a file without its byte order mark, or `undefined` if the file is missing.
 *
 * @throws OperatorError if the file exists but cannot be read.
 */
export async function readOptional(
  file: string,
  code: OperatorErrorCode = 'SD_FOLDER_UNREADABLE',
): Promise<string | undefined> {
  try {
    const { descriptor } = await openRegularFile(file)
    const text = await readDescriptor(descriptor, 'utf8').finally(() => closeDescriptor(descriptor))
    return text.replace(/^\uFEFF/, '')
  } catch (cause) {
    if (isNotFoundError(cause)) return undefined
    throw new OperatorError(code, `${file}: ${describeUnreadable(cause)}`, { cause })
  }
}
