import { defaultOpenFiles, descriptorLimit } from '../load/load-options.ts'
import type { RunningEngine } from '../native/engine-choice.ts'
import { connectionLimits } from '../protocol/connection-limits.ts'
import type { SiteSummary } from '../site/site.ts'

/** Descriptors of a process beside connections and files: pipes, logs, the listeners, what an application opens. */
const others = 100

/** Of one connection, and of one file that is kept. The native engine has a pair for what is Node's, and its own files. */
const taken = { node: [1, 1], native: [3, 2] } as const

/** What is served. */
interface Served {
  readonly summary: Pick<SiteSummary, 'files' | 'variants'>
  readonly engine: Pick<RunningEngine, 'name'>
}

/** Says once where the system allows fewer descriptors than connections and kept files may take. */
export function warnOfDescriptors(
  { summary: { files, variants }, engine }: Served,
  openFiles: number = defaultOpenFiles(),
): void {
  const limit = descriptorLimit()
  const [ofConnection, ofFile] = taken[engine.name]
  // Two builds are open while one replaces the other.
  const kept = 2 * ofFile * Math.min(openFiles, files + variants)
  const needed = ofConnection * connectionLimits.maximumConnections + kept + others
  if (limit === undefined || limit >= needed) return
  process.stderr.write(
    `serve-dist: warning: this process may open ${limit} files, and takes up to ${needed} for connections and the build: clients will wait in vain under load; raise the hard limit (ulimit -Hn ${needed}, systemd: LimitNOFILE=, Docker: --ulimit nofile=)\n`,
  )
}
