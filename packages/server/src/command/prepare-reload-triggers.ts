import { isatty } from 'node:tty'
import { describeReload } from '../live/describe-reload.ts'
import { fingerprintBuild } from '../load/fingerprint-manifest.ts'
import type { ReloadOutcome } from '../live/reload-outcome.ts'
import { replaceSignalListeners } from '../serve/replace-signal-listeners.ts'
import { followBuilds } from '../live/watch-builds.ts'
import { watchedFolder, type WatchedBuilds } from '../load/watched-builds.ts'

/** What makes the command look for a new build, besides SIGHUP. */
export interface ReloadFlags {
  /** Whether a new manifest does. */
  readonly watch?: boolean
  /** A file of variables; with `watch`, a change of it does, too. */
  readonly envFile?: string
}

/** Loads the build that is there now. */
export type Reload = () => Promise<ReloadOutcome>

/** What was started. */
export interface ReloadTriggers {
  /** Looks for no more builds. */
  close(): void
}

/**
 * Prepares what makes the command look for a new build. Call it before the first build is loaded, so that neither a
 * newer build nor a SIGHUP is missed meanwhile.
 *
 * @param directory - of the builds; `undefined` where they come from a store.
 * @returns starts looking, also at what else is watched; each outcome is printed on standard error.
 */
export async function prepareReloadTriggers(
  directory: string | undefined,
  { watch = false, envFile }: ReloadFlags,
): Promise<(reload: Reload, watched?: WatchedBuilds) => ReloadTriggers> {
  let hangUps = 0
  let onSignal = (): void => {
    hangUps += 1
  }
  const ignoreSignal = onHangUp(() => onSignal())
  const folder =
    watch && directory !== undefined
      ? watchedFolder(directory, { envFile, since: await fingerprintBuild(directory, envFile) })
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
 * Acts on SIGHUP, as servers do. When its terminal was closed, the signal ends the process, as it does by default.
 *
 * @returns stops acting; the signal does not end a process that is stopping, either.
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
  // That of `bin/serve-dist.js` is for the time until here.
  replaceSignalListeners('SIGHUP', onSignal)
  return () => {
    process.on('SIGHUP', () => {})
    process.off('SIGHUP', onSignal)
  }
}
