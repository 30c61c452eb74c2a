import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { fingerprintOf, isSameFile } from './file-fingerprint.ts'
import type { AnswerContent, StoredBytes } from './site.ts'

/** The part of a file that is a body. */
export type FileContent = Extract<AnswerContent, { kind: 'file' }>

/**
 * Bytes that are read and sent at a time. A reader that does not keep up costs this much memory: 64 KiB
 * made it 89 MB for a thousand of them, and sent nothing faster.
 */
export const chunkSize: number = 48 * 1024

const explanations = {
  gone: 'is not there any more; restart the server after a build',
  changed: 'changed since the server started; restart the server after a build',
  unreadable: 'cannot be read',
}

/** A file that vanished or changed since boot. */
export class StoredFileError extends Error {
  override readonly name = 'StoredFileError'
  readonly status: 404 | 500

  constructor(stored: StoredBytes, what: 'gone' | 'changed' | 'unreadable', options?: ErrorOptions) {
    const { cause } = options ?? {}
    const reason = what === 'unreadable' && cause instanceof Error ? ` (${cause.message})` : ''
    super(`${stored.file}: ${explanations[what]}${reason}`, options)
    this.status = what === 'gone' ? 404 : 500
  }
}

/**
 * Opens a file and makes sure that it is still the one that boot saw.
 *
 * @throws StoredFileError when it is gone or another one.
 */
export async function openStored(stored: StoredBytes): Promise<FileHandle> {
  // Without O_NONBLOCK, opening a FIFO that took the file's place would wait for ever.
  const handle = await open(stored.file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(
    (cause: unknown) => {
      throw new StoredFileError(stored, isGone(cause) ? 'gone' : 'unreadable', { cause })
    },
  )
  try {
    const found = await handle.stat({ bigint: true })
    if (found.isFile() && isSameFile(fingerprintOf(found), stored.fingerprint)) return handle
  } catch (cause) {
    await handle.close()
    throw new StoredFileError(stored, 'unreadable', { cause })
  }
  await handle.close()
  throw new StoredFileError(stored, 'changed')
}

/** Whatever else keeps a file from being opened (no descriptors left, no permission) is the server's fault. */
function isGone(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

/**
 * The bytes of a body, a chunk at a time.
 *
 * @param reused - read into again and again, by whoever is done with a chunk before asking for the next.
 * @throws StoredFileError before the last of them when the file changed meanwhile.
 */
export async function* readRange(
  handle: FileHandle,
  { stored, first, end }: FileContent,
  reused?: Buffer,
): AsyncGenerator<Buffer> {
  let position = first
  while (position < end) {
    const buffer = reused ?? Buffer.allocUnsafe(Math.min(chunkSize, end - position))
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, end - position), position)
    position += bytesRead
    // The last bytes are held back until the file proves to be unchanged: a mixed body is never whole.
    const isUnchanged =
      position < end || isSameFile(fingerprintOf(await handle.stat({ bigint: true })), stored.fingerprint)
    if (bytesRead === 0 || !isUnchanged) throw new StoredFileError(stored, 'changed')
    yield buffer.subarray(0, bytesRead)
  }
}
