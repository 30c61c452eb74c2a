import { dirname, join, resolve } from 'node:path'
import { stateDirectory } from '@serve-dist/manifest'
import { changedFiles } from '../files/changed-files.ts'
import { watchFolders } from '../files/watch-folders.ts'
import { describeReload } from './describe-reload.ts'
import { markBuild } from './mark-manifest.ts'
import type { ReloadOutcome } from './reload-outcome.ts'

/** What is watched for another build. */
export interface WatchedBuilds {
  /** Tells the build that is there now from any other; `undefined` where there is none to be taken now. */
  mark(): Promise<string | undefined>
  /** What `mark` said of the build that is served, or before that was loaded. */
  readonly since: string | undefined
  /** In which the system tells of changes. */
  readonly folders: readonly string[]
  /** Milliseconds between looks where the system tells of no change. */
  readonly interval: number
  /** Milliseconds from the last change to the look at it. */
  readonly settling: number
  /** Looks at once, and settles when what it found is served; set by who follows the builds. */
  lookNow?: () => Promise<void>
}

/** How the build of a folder is watched. */
export interface WatchFolderOptions {
  /** A file of variables that is watched, too. */
  readonly envFile?: string | undefined
  /** What `markBuild` said before the build that is served was loaded. */
  readonly since: string | undefined
  /**
   * Milliseconds between looks. A look is a `realpath` and a `stat`.
   * @default 2000
   */
  readonly interval?: number
}

/** Milliseconds at most until a build that was rejected is tried again: its files may still be on their way. */
const longestWait = 60_000

/**
 * A folder that gets another manifest, also by a link that leads elsewhere, or whose file of variables changes. A
 * manifest that was taken away is no change: a build is being written.
 */
export function watchedFolder(
  directory: string,
  { since, envFile, interval = 2000 }: WatchFolderOptions,
): WatchedBuilds {
  const path = resolve(directory)
  // Where the manifest is placed, where its folder is, and where the build's folder or a link of its name is.
  const folders = [join(path, stateDirectory), path, dirname(path)]
  const watched = { mark: () => markBuild(path, envFile), since, interval }
  const alone = { ...watched, folders, settling: 0 }
  return envFile === undefined ? alone : withEnvFile(alone, envFile)
}

/** Looks at the folder of a file of variables, too. */
export function withEnvFile(watched: WatchedBuilds, envFile: string): WatchedBuilds {
  // Unlike a manifest, that file is written in its place by many editors and scripts.
  return { ...watched, folders: [...watched.folders, dirname(resolve(envFile))], settling: 100 }
}

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
