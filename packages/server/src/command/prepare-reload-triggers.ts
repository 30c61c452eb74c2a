import { describeReload } from '../load/describe-reload.ts'
import { markManifest } from '../load/mark-manifest.ts'
import { onHangUp } from './on-hang-up.ts'
import type { ReloadOutcome } from '../load/open-site-store.ts'
import { watchBuild } from '../load/watch-build.ts'

/** What makes the command look for a new build, besides SIGHUP. */
export interface ReloadFlags {
  /** Whether a new manifest does. */
  readonly watch?: boolean
}

/** Loads the build that is there now. */
export type Reload = () => Promise<ReloadOutcome>

/** What was started. */
export interface ReloadTriggers {
  /** Looks for no more builds. */
  close(): void
}

/**
 * Prepares what makes the command look for a new build, before its first one is loaded: a build that comes
 * meanwhile is not missed, nor is a SIGHUP.
 *
 * @returns starts it; each outcome is told on standard error.
 */
export async function prepareReloadTriggers(
  directory: string,
  { watch = false }: ReloadFlags,
): Promise<(reload: Reload) => ReloadTriggers> {
  let hangUps = 0
  let onSignal = (): void => {
    hangUps += 1
  }
  const ignoreSignal = onHangUp(() => onSignal())
  const since = watch ? await markManifest(directory) : undefined

  return (reload) => {
    onSignal = () => void reload().then(tell)
    if (hangUps > 0) onSignal()
    const watcher = watch ? watchBuild(directory, tellingOnce(directory, reload), { since }) : undefined
    return {
      close() {
        ignoreSignal()
        watcher?.close()
      },
    }
  }
}

function tell(outcome: ReloadOutcome): void {
  process.stderr.write(`serve-dist: ${describeReload(outcome)}\n`)
}

/** A build that is refused is tried again and again, and told of once; one that was taken away meanwhile, never. */
function tellingOnce(directory: string, reload: Reload): () => Promise<boolean> {
  let lastRefusal = ''
  return async () => {
    const before = await markManifest(directory)
    const outcome = await reload()
    const isRefused = outcome.status === 'refused'
    if (isRefused && (before === undefined || before !== (await markManifest(directory)))) return false
    const refusal = isRefused ? describeReload(outcome) : ''
    if (outcome.status === 'swapped' || refusal !== lastRefusal) tell(outcome)
    lastRefusal = refusal
    return !isRefused
  }
}
