import { changedFiles } from '../files/changed-files.ts'
import { watchFolders } from '../files/watch-folders.ts'
import type { WatchedBuilds } from '../load/watched-builds.ts'
import { describeReload } from './describe-reload.ts'
import type { ReloadOutcome } from './reload-outcome.ts'

/** The maximum milliseconds until the next attempt for a rejected build, whose files may still arrive. */
const longestWait = 60_000

/**
 * Calls `onNewBuild` for each new build, and again if a served file has changed on the disk.
 *
 * @param onNewBuild - returns whether the build was accepted. For a rejected build, it is called again at growing
 * intervals.
 */
export function watchBuilds(watched: WatchedBuilds, onNewBuild: () => Promise<boolean>): { close(): void } {
  const { since, folders, interval, settling } = watched
  let seen = since
  let wait = interval
  let nextTry = Number.POSITIVE_INFINITY
  let lastTry = Number.NEGATIVE_INFINITY
  let isClosed = false

  async function look(): Promise<void> {
    const mark = await watched.mark()
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
    // Clients get errors, so a rejected build is retried at short intervals.
    nextTry = Math.min(nextTry, lastTry + interval)
    wait = interval
    if (performance.now() >= nextTry) void watcher.look()
  }

  const watcher = watchFolders(folders, look, { interval, settling })
  changedFiles.subscribe(onChangedFile)
  void watcher.look()
  watched.lookNow = async () => await watcher.look()
  return {
    close() {
      isClosed = true
      changedFiles.unsubscribe(onChangedFile)
      watcher.close()
    },
  }
}

/**
 * Loads each new build. A rejected build is retried, and reported once. If it was removed in the meantime, it is not
 * reported.
 */
export function followBuilds(
  watched: WatchedBuilds,
  reload: () => Promise<ReloadOutcome>,
  report: (outcome: ReloadOutcome) => void,
): { close(): void } {
  let lastRefusal = ''
  return watchBuilds(watched, async () => {
    const before = await watched.mark()
    const outcome = await reload()
    const isRefused = outcome.status === 'refused'
    if (isRefused && (before === undefined || before !== (await watched.mark()))) return false
    const refusal = isRefused ? describeReload(outcome) : ''
    if (outcome.status === 'swapped' || refusal !== lastRefusal) report(outcome)
    lastRefusal = refusal
    return !isRefused
  })
}
