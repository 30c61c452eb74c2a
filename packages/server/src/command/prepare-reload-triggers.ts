import { describeReload } from '../load/describe-reload.ts'
import { listenAdmin } from './listen-admin.ts'
import { markManifest } from '../load/mark-manifest.ts'
import { onHangUp } from './on-hang-up.ts'
import type { ReloadOutcome } from '../load/open-site-store.ts'
import { watchBuild } from '../load/watch-build.ts'

/** What makes the command look for a new build, besides SIGHUP. */
export interface ReloadFlags {
  /** Whether a new manifest does. */
  readonly watch?: boolean
  /** A unix socket that takes `POST /reload`. */
  readonly adminSocket?: string
}

/** Loads the build that is there now. */
export type Reload = () => Promise<ReloadOutcome>

/** What was started. */
export interface ReloadTriggers {
  /** Looks for no more builds. */
  close(): Promise<void>
}

/**
 * Prepares what makes the command look for a new build, before its first one is loaded: a build that comes
 * meanwhile is not missed, nor is a SIGHUP.
 *
 * @returns starts it; each outcome is told on standard error.
 */
export async function prepareReloadTriggers(
  directory: string,
  { watch = false, adminSocket }: ReloadFlags,
): Promise<(reload: Reload) => Promise<ReloadTriggers>> {
  let hangUps = 0
  let onSignal = (): void => {
    hangUps += 1
  }
  const ignoreSignal = onHangUp(() => onSignal())
  const since = watch ? await markManifest(directory) : undefined

  return async (reload) => {
    const reloadAndTell: Reload = async () => {
      const outcome = await reload()
      tell(outcome)
      return outcome
    }
    const admin = adminSocket === undefined ? undefined : await listenAdmin(adminSocket, reloadAndTell)
    onSignal = () => void reloadAndTell()
    if (hangUps > 0) onSignal()
    const watcher = watch ? watchBuild(directory, tellingOnce(directory, reload), { since }) : undefined
    return {
      async close() {
        ignoreSignal()
        watcher?.close()
        await admin?.close()
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
