import type { Reload } from './prepare-reload-triggers.ts'
import type { WorkersSummary } from './listening-line.ts'
import type { WatchedBuilds } from '../load/watched-builds.ts'
import type { RunningEngine } from '../native/choose-engine.ts'
import type { SiteSummary } from '../site/site.ts'

export interface RunningCommand {
  readonly url: string
  readonly engine: RunningEngine
  readonly summary: SiteSummary
  readonly workers?: WorkersSummary
  readonly reload: Reload
  /** The builds that become current in a store. */
  readonly watched: WatchedBuilds | undefined
  readonly opsUrl: string | undefined
  readonly redirectUrl: string | undefined
  close(): Promise<void>
  /** Rejects when the last worker has failed. */
  readonly collapse?: Promise<never>
}
