import { isatty } from 'node:tty'
import { describeReload } from '../live/describe-reload.ts'
import { fingerprintBuild } from '../load/fingerprint-manifest.ts'
import type { ReloadOutcome } from '../live/reload-outcome.ts'
import { replaceSignalListeners } from '../serve/replace-signal-listeners.ts'
import { followBuilds } from '../live/watch-builds.ts'
import { watchedFolder, watchedFolders, type WatchedBuilds } from '../load/watched-builds.ts'

/** The options that decide when the command looks for a new build, besides SIGHUP. */
export interface ReloadFlags {
  /** Whether to watch for a new manifest. */
  readonly watch?: boolean
  /** A file with environment variables, which `watch` includes. */
  readonly envFile?: string
}

export type Reload = () => Promise<ReloadOutcome>

export interface ReloadTriggers {
  /** Stops looking for builds. */
  close(): void
}

/**
 * Prepares the triggers of a reload. Call it before the first build is loaded, to miss neither a newer build nor a
 * SIGHUP.
 *
 * @param directories - the folders of the builds; `undefined` for a store.
 * @returns a function that starts the triggers. It prints the outcome of each reload to standard error.
 */
export async function prepareReloadTriggers(
  directories: readonly string[] | undefined,
  { watch = false, envFile }: ReloadFlags,
): Promise<(reload: Reload, watched?: WatchedBuilds) => ReloadTriggers> {
  let hangUps = 0
  let onSignal = (): void => {
    hangUps += 1
  }
  const ignoreSignal = onHangUp(() => onSignal())
  const folder =
    watch && directories !== undefined
      ? watchedFolders(
          await Promise.all(
            directories.map(async (directory) =>
              watchedFolder(directory, { envFile, since: await fingerprintBuild(directory, envFile) }),
            ),
          ),
        )
      : undefined

  return (reload, watched = folder) => {
    onSignal = () => void reload().then(print)
    if (hangUps > 0) onSignal()
    const watcher = watched === undefined ? undefined : followBuilds(watched, reload, print)
    return {
      close() {
        ignoreSignal()
        watcher?.close()
      },
    }
  }
}

function print(outcome: ReloadOutcome): void {
  process.stderr.write(`serve-dist: ${describeReload(outcome)}\n`)
}

/**
 * Calls `act` on SIGHUP. If the terminal was closed, the signal ends the process, which is the default.
 *
 * @returns a function that stops calling it. The process then ignores the signal, to stop without interruption.
 */
function onHangUp(act: () => void): () => void {
  const hasTerminal = isatty(0)
  const onSignal = (): void => {
    if (!hasTerminal || isatty(0)) {
      act()
      return
    }
    process.off('SIGHUP', onSignal)
    process.kill(process.pid, 'SIGHUP')
  }
  // Replaces the listener of `bin/serve-dist.js`.
  replaceSignalListeners('SIGHUP', onSignal)
  return () => {
    process.on('SIGHUP', () => {})
    process.off('SIGHUP', onSignal)
  }
}
