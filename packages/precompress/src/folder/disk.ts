import { isNotFoundError } from '@serve-dist/foundation/files/file-error'
import { closeSync, constants, fstatSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { rm, rmdir, unlink } from 'node:fs/promises'

/** How a pass changes the build's folder; tests hand in one whose changes fail. */
export interface Disk {
  readonly writeNew: typeof writeNew
  readonly rename: (from: string, to: string) => void
  readonly rm: typeof rm
  readonly rmdir: (path: string) => Promise<void>
  readonly unlink: (path: string) => Promise<void>
}

export const disk: Disk = { writeNew, rename: renameSync, rm, rmdir, unlink }

/**
 * Writes a new file and leaves it open; `makeParent` is called where its folder is missing. A write into the system's
 * memory takes less time than asking Node's pool for it.
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

/** How a file is opened that another program may have replaced: no FIFO is waited for, no link is followed. */
export const safeOpenFlags: number = (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0)

/** Opens a file of ours to read it; throws for whatever is no regular file. */
export function openRegularFile(path: string): number {
  const descriptor = openSync(path, constants.O_RDONLY | safeOpenFlags)
  if (fstatSync(descriptor).isFile()) return descriptor
  closeSync(descriptor)
  throw new Error('is no regular file')
}

/** The text of a file of ours. */
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
