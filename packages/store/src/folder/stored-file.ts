import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { isNotFoundError } from '@serve-dist/foundation/files/file-error'
import type { StoredObject } from '../backend.ts'

/** Returns a value that changes with each write of a file. A rename keeps it. */
export function versionOf({ ino, mtimeNs, size }: BigIntStats): string {
  return [ino, mtimeNs, size].map((part) => part.toString(36)).join('-')
}

/** Returns the version of the file at a path, or `undefined` if there is no file. */
export async function versionAt(path: string): Promise<string | undefined> {
  try {
    return versionOf(await stat(path, { bigint: true }))
  } catch (error) {
    if (isNotFoundError(error)) return undefined
    throw error
  }
}

interface Opening {
  readonly unless: string | undefined
  readonly signal: AbortSignal | undefined
  /** The folder's clock minus this machine's clock, in milliseconds. A reader cannot measure it without writing. */
  readonly ahead: number
}

/** Opens an object of a folder. */
export async function openFile(
  path: string,
  { unless, signal, ahead }: Opening,
): Promise<StoredObject | 'unchanged' | undefined> {
  // Polls usually find the same version, so avoid opening the file.
  if (unless !== undefined && (await versionAt(path)) === unless) return 'unchanged'
  // Without O_NONBLOCK, opening a FIFO would wait forever.
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(
    (error: unknown) => {
      if (isNotFoundError(error)) return undefined
      throw error
    },
  )
  if (handle === undefined) return undefined
  try {
    const stats = await handle.stat({ bigint: true })
    if (!stats.isFile()) throw new Error('not a regular file')
    const size = Number(stats.size)
    const whole = size <= chunkSize ? await readWhole(handle, size) : undefined
    const body =
      whole === undefined
        ? handle.createReadStream({ highWaterMark: chunkSize, signal })
        : Readable.from([whole], { objectMode: false })
    return { body, size, version: versionOf(stats), time: Date.now() + ahead }
  } catch (error) {
    await handle.close()
    throw error
  }
}

/** The size of a read in bytes. Smaller files are read at once, because a stream costs more (bench:store). */
const chunkSize = 256 * 1024

async function readWhole(handle: FileHandle, size: number): Promise<Uint8Array> {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(size), 0, size, 0)
  await handle.close()
  return buffer.subarray(0, bytesRead)
}
