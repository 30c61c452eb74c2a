import { defaultOpenFiles, descriptorLimit } from '../load/load-options.ts'
import { connectionLimits } from '../protocol/connection-limits.ts'
import type { SiteSummary } from '../site/site.ts'

/** Descriptors of a process beside connections and files: pipes, logs, the listeners, what an application opens. */
const others = 100

/** Says once where the system allows fewer descriptors than connections and kept files may take. */
export function warnOfDescriptors(
  { files, variants }: Pick<SiteSummary, 'files' | 'variants'>,
  openFiles: number = defaultOpenFiles(),
): void {
  const limit = descriptorLimit()
  // Two builds are open while one replaces the other.
  const kept = 2 * Math.min(openFiles, files + variants)
  const needed = connectionLimits.maximumConnections + kept + others
  if (limit === undefined || limit >= needed) return
  process.stderr.write(
    `serve-dist: warning: this process may open ${limit} files, and takes up to ${needed} for connections and the build: clients will wait in vain under load; raise the hard limit (ulimit -Hn ${needed}, systemd: LimitNOFILE=, Docker: --ulimit nofile=)\n`,
  )
}
