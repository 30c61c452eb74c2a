import { defaultOpenFiles, descriptorLimit } from '../load/load-options.ts'
import type { RunningEngine } from '../native/choose-engine.ts'
import { connectionLimits } from '../protocol/connection-limits.ts'
import type { SiteSummary } from '../site/site.ts'

/** Descriptors for pipes, logs, listeners and the application. */
const others = 100

/** No warning from this limit on: few servers have so many connections, and containers often have a limit of 2^20. */
const enough = 16_000

interface Served {
  readonly summary: Pick<SiteSummary, 'files' | 'variants'>
  readonly engine: Pick<RunningEngine, 'name'>
  /** Whether an application answers requests for unknown paths. */
  readonly hasApplication: boolean
}

/** Warns if the limit of descriptors is too low for all connections and open files. */
export function warnAboutDescriptors({ summary, engine, hasApplication }: Served): void {
  const limit = descriptorLimit()
  const isNative = engine.name === 'native'
  // A request to the application takes a socket pair. Requests that Node answers alone are short, and are not counted.
  const ofConnection = isNative && hasApplication ? 3 : 1
  // The native engine opens these files a second time.
  const ofFile = isNative ? 2 : 1
  // During a reload, two builds are open.
  const kept = 2 * ofFile * Math.min(defaultOpenFiles(), summary.files + summary.variants)
  const needed = ofConnection * connectionLimits.maximumConnections + kept + others
  if (limit === undefined || limit >= Math.min(needed, enough)) return
  const most = Math.max(0, Math.floor((limit - kept - others) / ofConnection))
  process.stderr.write(
    `serve-dist: warning: connections beyond ${most} will hang. Raise ulimit -n from ${limit} to ${Math.min(needed, enough)} (systemd: LimitNOFILE=, Docker: --ulimit nofile=).\n`,
  )
}
