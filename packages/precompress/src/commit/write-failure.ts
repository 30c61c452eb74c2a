import { PrecompressError } from '../precompress-error.ts'
import { reasonOf } from '../folder/reason-of.ts'

/** What is wrong with the whole disk, whichever path the system happened to name. */
const ofTheDisk: ReadonlySet<unknown> = new Set(['EDQUOT', 'ENOSPC', 'EROFS'])

/** What the file system says of a folder, told as a problem; whatever else was thrown, as it is. */
export function writeFailure(folder: string, error: unknown): unknown {
  if (!(error instanceof Error && 'syscall' in error)) return error
  const reason = 'code' in error && ofTheDisk.has(error.code) ? reasonOf(error) : error.message
  return new PrecompressError([`${folder}: cannot be written to (${reason})`], { cause: error })
}
