import { dirname, join, resolve } from 'node:path'
import { stateDirectory } from '@serve-dist/manifest'
import { changedFiles } from '../files/changed-files.ts'
import { watchFolders } from '../files/watch-folders.ts'
import { markBuild } from './mark-manifest.ts'

/** How a build is watched. */
export interface WatchBuildOptions {
  /** A file of variables that is watched, too. */
  readonly envFile?: string | undefined
  /** What `markBuild` said before the build that is served was loaded. */
  readonly since: string | undefined
  /**
   * Milliseconds between looks where the system tells of no change. A look is a `realpath` and a `stat`.
   * @default 2000
   */
  readonly interval?: number
}

/** Milliseconds at most until a build that was rejected is tried again: its files may still be on their way. */
const longestWait = 60_000

/**
 * Calls back whenever a folder has another manifest than before, also by a link that leads elsewhere, and when a file
 * that was to be sent is not what it was, or when the file of its variables has changed. A manifest that was taken away is no change: a build is being written.
 *
 * @param onNewBuild - answers whether the build was taken; one that was not is offered again, less and less often.
 */
export function watchBuild(
  directory: string,
  onNewBuild: () => Promise<boolean>,
  { since, envFile, interval = 2000 }: WatchBuildOptions,
): { close(): void } {
  const path = resolve(directory)
  let seen = since
  let wait = interval
  let nextTry = Number.POSITIVE_INFINITY
  let lastTry = Number.NEGATIVE_INFINITY
  let isClosed = false

  async function look(): Promise<void> {
    const mark = await markBuild(path, envFile)
    const isNew = mark !== undefined && mark !== seen
    if (isClosed || !(isNew || (mark !== undefined && performance.now() >= nextTry))) return
    seen = mark
    if (isNew) wait = interval
    if (await onNewBuild()) nextTry = Number.POSITIVE_INFINITY
    else {
      nextTry = performance.now() + wait
      wait = Math.min(2 * wait, longestWait)
    }
    lastTry = performance.now()
  }

  const onChangedFile = (): void => {
    // Clients get errors: a build that was refused is not waited for longer and longer.
    nextTry = Math.min(nextTry, lastTry + interval)
    wait = interval
    if (performance.now() >= nextTry) void watcher.look()
  }

  // Where the manifest is placed, where its folder is, and where the build's folder or a link of its name is.
  const folders = [join(path, stateDirectory), path, dirname(path)]
  // Unlike a manifest, that file is written in its place by many editors and scripts.
  const watcher =
    envFile === undefined
      ? watchFolders(folders, look, { interval, settling: 0 })
      : watchFolders([...folders, dirname(resolve(envFile))], look, { interval, settling: 100 })
  changedFiles.subscribe(onChangedFile)
  void watcher.look()
  return {
    close() {
      isClosed = true
      changedFiles.unsubscribe(onChangedFile)
      watcher.close()
    },
  }
}
