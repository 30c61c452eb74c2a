import { type FSWatcher, statSync, watch } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { stateDirectory } from '@serve-dist/manifest'
import { markManifest } from './mark-manifest.ts'

/** How a folder is watched. */
export interface WatchBuildOptions {
  /** What `markManifest` said before the build that is served was loaded. */
  readonly since: string | undefined
  /**
   * Milliseconds between looks where the system tells nothing: network and overlay mounts, links further up
   * in the path, more watchers than allowed. A look is a `realpath` and a `stat`.
   * @default 2000
   */
  readonly interval?: number
}

/** Milliseconds at most until a build that was refused is tried again: its files may still be on their way. */
const longestWait = 60_000

/**
 * Calls back whenever a folder has another manifest than before, also by a link that leads elsewhere. A
 * manifest that was taken away is no change: a build is being written.
 *
 * @param onNewBuild - answers whether the build was taken; one that was not is offered again, less and less often.
 */
export function watchBuild(
  directory: string,
  onNewBuild: () => Promise<boolean>,
  { since, interval = 2000 }: WatchBuildOptions,
): { close(): void } {
  const path = resolve(directory)
  let seen = since
  let wait = interval
  let nextTry = Number.POSITIVE_INFINITY
  let isLooking = false
  let mustLookAgain = false
  let isClosed = false

  async function look(): Promise<void> {
    if (isLooking) {
      mustLookAgain = true
      return
    }
    isLooking = true
    do {
      mustLookAgain = false
      for (const place of places) place.follow()
      await lookOnce()
    } while (mustLookAgain)
    isLooking = false
  }

  async function lookOnce(): Promise<void> {
    const mark = await markManifest(path)
    const isNew = mark !== undefined && mark !== seen
    if (isClosed || !(isNew || (mark !== undefined && performance.now() >= nextTry))) return
    seen = mark
    if (isNew) wait = interval
    if (await onNewBuild()) nextTry = Number.POSITIVE_INFINITY
    else {
      nextTry = performance.now() + wait
      wait = Math.min(2 * wait, longestWait)
    }
  }

  const onEvent = (): void => void look()
  // Where the manifest is placed, where its folder is, and where the build's folder or a link of its name is.
  const places = [join(path, stateDirectory), path, dirname(path)].map((folder) =>
    followFolder(folder, onEvent),
  )
  const timer = setInterval(onEvent, interval).unref()
  void look()

  return {
    close() {
      isClosed = true
      clearInterval(timer)
      for (const place of places) place.close()
    },
  }
}

interface FollowedFolder {
  /** Makes sure that the folder which has the name now is the one that is watched. */
  follow(): void
  close(): void
}

/** `undefined` for what is not there, leads round in a circle or cannot be reached: all of that may pass. */
function inodeOf(folder: string): number | undefined {
  try {
    return statSync(folder).ino
  } catch {
    return undefined
  }
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
