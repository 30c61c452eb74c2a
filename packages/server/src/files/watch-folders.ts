import { type FSWatcher, statSync, watch } from 'node:fs'
import { coalesceRuns } from './coalesce-runs.ts'

/** Options of `watchFolders`. */
export interface WatchFoldersOptions {
  /**
   * Milliseconds between checks without an event. Network and overlay mounts, links in a parent folder and
   * too many watchers cause missing events.
   */
  readonly interval: number
  /** Milliseconds between the last change and the check. */
  readonly settling: number
}

/** A running watcher. */
export interface FolderWatcher {
  /** Checks now. All calls during a check share one further check, which starts afterwards. */
  look(): Promise<void>
  close(): void
}

/**
 * Checks after each change in some folders, and at intervals. It watches folders because files are replaced
 * by renaming and links are switched. A folder may also appear, disappear or be replaced.
 *
 * @param onLook - must not reject.
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
  /** Watches the folder that has the name now. */
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
        // Periodic checks find the changes that have no event.
      }
    },
    close,
  }
}

/**
 * Returns `undefined` for a missing folder, a link loop or an unreachable path; all of these may be
 * temporary.
 */
function inodeOf(folder: string): number | undefined {
  try {
    return statSync(folder).ino
  } catch {
    return undefined
  }
}
