import { type FSWatcher, statSync, watch } from 'node:fs'
import { coalesceRuns } from './coalesce-runs.ts'

/** How folders are watched. */
export interface WatchFoldersOptions {
  /**
   * Milliseconds between looks where the system tells of no change: network and overlay mounts, links further up in the
   * path, more watchers than allowed.
   */
  readonly interval: number
  /** Milliseconds from the last change to the look at it. */
  readonly settling: number
}

/** Folders that are watched. */
export interface FolderWatcher {
  /** Looks now. During a look, all calls get one more look, which begins after it. */
  look(): Promise<void>
  close(): void
}

/**
 * Looks whenever something in one of some folders changed, and from time to time. Folders, not files: these are
 * replaced by renaming, and links beside them are moved. A folder may come, go and be replaced, too.
 *
 * @param onLook - which never rejects.
 */
export function watchFolders(
  folders: readonly string[],
  onLook: () => Promise<void>,
  { interval, settling }: WatchFoldersOptions,
): FolderWatcher {
  let soon: NodeJS.Timeout | undefined
  let isClosed = false
  const look = coalesceRuns(async () => {
    if (isClosed) return
    for (const folder of followed) folder.follow()
    await onLook()
  })
  const lookSoon = (): void => {
    clearTimeout(soon)
    soon = setTimeout(look, settling).unref()
  }
  const followed = [...new Set(folders)].map((folder) => followFolder(folder, lookSoon))
  for (const folder of followed) folder.follow()
  const timer = setInterval(look, interval).unref()
  return {
    look,
    close() {
      isClosed = true
      clearTimeout(soon)
      clearInterval(timer)
      for (const folder of followed) folder.close()
    },
  }
}

interface FollowedFolder {
  /** Makes sure that the folder which has the name now is the one that is watched. */
  follow(): void
  close(): void
}

function followFolder(folder: string, onEvent: () => void): FollowedFolder {
  let watcher: FSWatcher | undefined
  let inode: number | undefined
  const close = (): void => {
    watcher?.close()
    watcher = undefined
    inode = undefined
  }
  return {
    follow() {
      const found = inodeOf(folder)
      if (found === inode) return
      close()
      if (found === undefined) return
      try {
        watcher = watch(folder, { persistent: false }, onEvent).on('error', close)
        inode = found
      } catch {
        // The looks at intervals find what the system does not tell of.
      }
    },
    close,
  }
}

/** `undefined` for what is not there, leads round in a circle or cannot be reached: all of that may pass. */
function inodeOf(folder: string): number | undefined {
  try {
    return statSync(folder).ino
  } catch {
    return undefined
  }
}
