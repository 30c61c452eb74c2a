import { isNotFoundError } from '@serve-dist/foundation/files/file-error'
import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { rm, rmdir, unlink } from 'node:fs/promises'

/** The operations that change the build's folder. Tests replace them with failing ones. */
export interface Disk {
  readonly writeNew: typeof writeNew
  readonly rename: (from: string, to: string) => void
  readonly rm: typeof rm
  readonly rmdir: (path: string) => Promise<void>
  readonly unlink: (path: string) => Promise<void>
}

export const disk: Disk = { writeNew, rename: renameSync, rm, rmdir, unlink }

/**
 * Writes a new file and returns its open descriptor. Calls `makeParent` if the folder is missing. Synchronous, because
 * a write to the page cache is faster than Node's thread pool.
 */
export function writeNew(path: string, bytes: Uint8Array, makeParent: () => void): number {
  const descriptor = openNew(path, makeParent)
  try {
    for (let written = 0; written < bytes.length;) written += writeSync(descriptor, bytes, written)
    return descriptor
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

/** Flags for files that another program may have replaced: they do not wait for a FIFO or follow a link. */
export const safeOpenFlags: number = (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)

/** Opens a file for reading. Throws if it is not a regular file. */
export function openRegularFile(path: string): number {
  const descriptor = openSync(path, constants.O_RDONLY | safeOpenFlags)
  if (fstatSync(descriptor).isFile()) return descriptor
  closeSync(descriptor)
  throw new Error('this is not a regular file')
}

/** Reads the text of a regular file. */
export function readText(path: string): string {
  const descriptor = openRegularFile(path)
  try {
    return readFileSync(descriptor, 'utf8')
  } finally {
    closeSync(descriptor)
  }
}

function openNew(path: string, makeParent: () => void): number {
  try {
    return openSync(path, 'wx')
  } catch (error) {
    if (!isNotFoundError(error)) throw error
    makeParent()
    return openSync(path, 'wx')
  }
}
