import { closeSync, constants, openSync, readlinkSync } from 'node:fs'
import { sep } from 'node:path'
import { linklessFlags } from './open-regular-file.ts'

/** Opens files; fastest if the files are sorted by folder. */
export interface FolderOpener {
  /**
   * Opens a file that must not be a link. If `isInside` is false, the caller must check the file's real
   * path.
   *
   * @throws the system's own error.
   */
  open(file: string): { readonly descriptor: number; readonly isInside: boolean }
  close(): void
}

/**
 * Creates an opener that checks once per folder that the folder is inside the root. It opens files relative
 * to the open folder (like `openat`, which Node lacks, via `/proc`). Links that change later are harmless.
 *
 * @param root - a real path.
 */
export function createFolderOpener(root: string): FolderOpener {
  const descriptors = findDescriptors()
  let folder = ''
  let descriptor: number | undefined
  let within: string | undefined

  function close(): void {
    if (descriptor !== undefined) closeSync(descriptor)
    descriptor = undefined
    within = undefined
  }

  function enter(entered: string): void {
    close()
    folder = entered
    if (descriptors === undefined) return
    try {
      descriptor = openSync(entered, constants.O_RDONLY | constants.O_DIRECTORY)
      const own = `${descriptors}${descriptor}`
      const real = readlinkSync(own)
      if (real === root || real.startsWith(root + sep)) within = own + sep
    } catch {
      // Opening a file of the folder reports the error.
    }
  }

  return {
    open: (file) => {
      const end = file.lastIndexOf(sep)
      const parent = file.slice(0, end)
      if (parent !== folder) enter(parent)
      if (within !== undefined) {
        try {
          return { descriptor: openSync(within + file.slice(end + 1), linklessFlags), isInside: true }
        } catch {
          // Report the error of the path itself instead.
        }
      }
      return { descriptor: openSync(file, linklessFlags), isInside: false }
    },
    close,
  }
}

/**
 * Returns the folder of this process's descriptors on Linux. The process id avoids the extra link `self`.
 */
function findDescriptors(): string | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    return `/proc/${readlinkSync('/proc/self')}/fd/`
  } catch {
    // `/proc` is not mounted.
    return undefined
  }
}
