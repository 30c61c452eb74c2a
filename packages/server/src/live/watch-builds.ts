import { changedFiles } from '../files/changed-files.ts'
import { watchFolders } from '../files/watch-folders.ts'
import type { WatchedBuilds } from '../load/watched-builds.ts'
import { describeReload } from './describe-reload.ts'
import type { ReloadOutcome } from './reload-outcome.ts'

/** Milliseconds at most until a build that was rejected is tried again: its files may still be on their way. */
const longestWait = 60_000

/**
 * Calls back whenever another build is there than before, and when a file that was to be sent is not what it was.
 *
 * @param onNewBuild - answers whether the build was taken; one that was not is offered again, less and less often.
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
    // Clients get errors: a build that was refused is not waited for longer and longer.
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
 * Loads each new build. One that is refused is tried again and again, but reported once; one that was removed meanwhile is
 * not reported.
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
