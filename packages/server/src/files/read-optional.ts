import { readFile } from 'node:fs'
import { promisify } from 'node:util'
import { OperatorError, type OperatorErrorCode } from '@serve-dist/manifest'
import { describeUnreadable, isNotFoundError } from '@serve-dist/foundation/files/file-error'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { closeDescriptor, openRegularFile } from './open-regular-file.ts'

const readDescriptor = promisify(readFile)

interface ReadOptions {
  readonly code?: OperatorErrorCode
  /** The maximum size of the file in bytes. */
  readonly most?: number
}

/**
 * Returns the text of a file without its byte order mark, or `undefined` if the file is missing.
 *
 * @throws OperatorError if the file exists but cannot be read, or is larger than `most`.
 */
export async function readOptional(
  file: string,
  { code = 'SD_FOLDER_UNREADABLE', most = Infinity }: ReadOptions = {},
): Promise<string | undefined> {
  try {
    const { descriptor, stats } = await openRegularFile(file)
    const read = async (): Promise<string> => {
      if (stats.size > most) {
        throw new OperatorError(code, `${file}: is larger than ${formatBytes(most)}. Write it again.`)
      }
      return await readDescriptor(descriptor, 'utf8')
    }
    const text = await read().finally(() => closeDescriptor(descriptor))
    return text.replace(/^\uFEFF/, '')
  } catch (cause) {
    if (isNotFoundError(cause)) return undefined
    if (cause instanceof OperatorError) throw cause
    throw new OperatorError(code, `${file}: ${describeUnreadable(cause)}`, { cause })
  }
}
