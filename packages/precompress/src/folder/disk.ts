import { isMissing } from '@serve-dist/manifest'
import { closeSync, openSync, renameSync, writeSync } from 'node:fs'
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

function openNew(path: string, makeParent: () => void): number {
  try {
    return openSync(path, 'wx')
  } catch (error) {
    if (!isMissing(error)) throw error
    makeParent()
    return openSync(path, 'wx')
  }
}
