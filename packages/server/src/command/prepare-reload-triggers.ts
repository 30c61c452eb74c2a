import { isatty } from 'node:tty'
import { describeReload } from '../load/describe-reload.ts'
import { markBuild, markManifest } from '../load/mark-manifest.ts'
import type { ReloadOutcome } from '../load/open-site-store.ts'
import { replaceSignalListeners } from '../serve/replace-signal-listeners.ts'
import { watchBuild } from '../load/watch-build.ts'

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
 * @returns starts looking; each outcome is printed on standard error.
 */
export async function prepareReloadTriggers(
  directory: string,
  { watch = false, envFile }: ReloadFlags,
): Promise<(reload: Reload) => ReloadTriggers> {
  let hangUps = 0
  let onSignal = (): void => {
    hangUps += 1
  }
  const ignoreSignal = onHangUp(() => onSignal())
  const since = watch ? await markBuild(directory, envFile) : undefined

  return (reload) => {
    onSignal = () => void reload().then(print)
    if (hangUps > 0) onSignal()
    const watcher = watch
      ? watchBuild(directory, printingOnce(directory, reload), { since, envFile })
      : undefined
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

/** A refused build is tried again and again, but reported once; one that was removed meanwhile is not reported. */
function printingOnce(directory: string, reload: Reload): () => Promise<boolean> {
  let lastRefusal = ''
  return async () => {
    const before = await markManifest(directory)
    const outcome = await reload()
    const isRefused = outcome.status === 'refused'
    if (isRefused && (before === undefined || before !== (await markManifest(directory)))) return false
    const refusal = isRefused ? describeReload(outcome) : ''
    if (outcome.status === 'swapped' || refusal !== lastRefusal) print(outcome)
    lastRefusal = refusal
    return !isRefused
  }
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
