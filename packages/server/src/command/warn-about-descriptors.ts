import { defaultOpenFiles, descriptorLimit } from '../load/load-options.ts'
import type { RunningEngine } from '../native/choose-engine.ts'
import { connectionLimits } from '../protocol/connection-limits.ts'
import type { SiteSummary } from '../site/site.ts'

/** Descriptors of a process beside connections and files: pipes, logs, the listeners, what an application opens. */
const others = 100

/** What is served. */
interface Served {
  readonly summary: Pick<SiteSummary, 'files' | 'variants'>
  readonly engine: Pick<RunningEngine, 'name'>
  /** Whether an application answers what the build does not. */
  readonly hasApplication: boolean
}

/** Says once where the system allows fewer descriptors than connections and kept files may take. */
export function warnAboutDescriptors({ summary, engine, hasApplication }: Served): void {
  const limit = descriptorLimit()
  const isNative = engine.name === 'native'
  // While Node answers, the native engine has a pair more. A build alone asks Node for moments; an application may take long.
  const ofConnection = isNative && hasApplication ? 3 : 1
  // The native engine opens kept files once more.
  const ofFile = isNative ? 2 : 1
  // Two builds are open while one replaces the other.
  const kept = 2 * ofFile * Math.min(defaultOpenFiles(), summary.files + summary.variants)
  const needed = ofConnection * connectionLimits.maximumConnections + kept + others
  if (limit === undefined || limit >= needed) return
  process.stderr.write(
    `serve-dist: warning: this process may open ${limit} files, and takes up to ${needed} for connections and the build: clients will wait in vain under load; raise the hard limit (ulimit -Hn ${needed}, systemd: LimitNOFILE=, Docker: --ulimit nofile=)\n`,
  )
}
