import { closeSync, constants, openSync, readlinkSync } from 'node:fs'
import { sep } from 'node:path'
import { linklessFlags } from './open-regular-file.ts'

/** Opens files one after another, best in the order of their folders. */
export interface FolderOpener {
  /**
   * Opens what must not be a link. `isInside` is false where it still has to be asked where the file really lies.
   *
   * @throws the system's own error.
   */
  open(file: string): { readonly descriptor: number; readonly isInside: boolean }
  close(): void
}

/**
 * Makes an opener that proves for a folder once, and not for each of its files, that it lies in the root: a file is opened
 * within the folder that is open (`openat`, which Node lacks, by way of `/proc`), wherever links lead meanwhile.
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
      // Opening a file of it tells what is wrong, if anything.
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
          // The error of the path itself is the one to show.
        }
      }
      return { descriptor: openSync(file, linklessFlags), isInside: false }
    },
    close,
  }
}

/** Where Linux has the open files of this process, by its number there: `self` would be one link more for each file. */
function findDescriptors(): string | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    return `/proc/${readlinkSync('/proc/self')}/fd/`
  } catch {
    // `/proc` is not mounted.
    return undefined
  }
}
