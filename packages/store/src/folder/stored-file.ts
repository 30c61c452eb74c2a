import type { BigIntStats } from 'node:fs'
import { type FileHandle, open, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { isNotFoundError } from '@serve-dist/foundation/files/file-error'
import type { StoredObject } from '../backend.ts'

/** What changes with a file: each write makes another one, and a rename leaves both as they are. */
export function versionOf({ ino, mtimeNs, size }: BigIntStats): string {
  return [ino, mtimeNs, size].map((part) => part.toString(36)).join('-')
}

/** The version of the file under a path, if there is one. */
export async function versionAt(path: string): Promise<string | undefined> {
  try {
    return versionOf(await stat(path, { bigint: true }))
  } catch (error) {
    if (isNotFoundError(error)) return undefined
    throw error
  }
}

/** What is asked of it, and of the folder's clock. */
interface Opening {
  readonly unless: string | undefined
  readonly signal: AbortSignal | undefined
  /** By how much that clock is known to be ahead of this machine's: to learn it, a reader would have to write. */
  readonly ahead: number
}

/** Opens an object of a folder. */
export async function openFile(
  path: string,
  { unless, signal, ahead }: Opening,
): Promise<StoredObject | 'unchanged' | undefined> {
  // Asked often, and mostly in vain: without opening it.
  if (unless !== undefined && (await versionAt(path)) === unless) return 'unchanged'
  const handle = await open(path, 'r').catch((error: unknown) => {
    if (isNotFoundError(error)) return undefined
    throw error
  })
  if (handle === undefined) return undefined
  try {
    const stats = await handle.stat({ bigint: true })
    if (!stats.isFile()) throw new Error('is no regular file')
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

/** Bytes that are read at a time; what has no more of them needs no stream of the file (bench:store). */
const chunkSize = 256 * 1024

async function readWhole(handle: FileHandle, size: number): Promise<Uint8Array> {
  const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(size), 0, size, 0)
  await handle.close()
  return buffer.subarray(0, bytesRead)
}
