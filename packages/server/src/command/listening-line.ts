import { count } from '@serve-dist/foundation/text/count'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import type { RunningEngine } from '../native/engine-choice.ts'
import type { SiteSummary } from '../site/site.ts'

/** What the command prints when it listens. */
export interface Listening {
  readonly version: string
  readonly summary: SiteSummary
  readonly engine: RunningEngine
  readonly url: string
  /** Where there are several processes. */
  readonly workers?: WorkersSummary | undefined
}

/** What the listening line says of workers. */
export interface WorkersSummary {
  readonly count: number
  /** Bytes of one of them that are in memory. */
  readonly residentBytes: number
}

/** The one line that the command prints when it listens; the URL stands at its end. */
export function listeningLine({ version, summary, engine, url, workers }: Listening): string {
  const { files, variants, bytesInMemory, keptBuilds, keptFiles } = summary
  const { name, why, threads = 1 } = engine
  const more = threads > 1 ? count(threads, 'thread') : why
  const parts = [
    `serve-dist ${version}`,
    `${count(files, 'file')}, ${count(variants, 'variant')}, ${formatBytes(bytesInMemory)} in memory`,
    ...(keptFiles === 0 ? [] : [`${count(keptFiles, 'file')} of ${count(keptBuilds, 'earlier build')}`]),
    ...(workers === undefined
      ? []
      : [`${count(workers.count, 'worker')} of ${formatBytes(workers.residentBytes)} each`]),
    `engine: ${name}${more === undefined ? '' : ` (${more})`}`,
    url,
  ]
  return parts.join(' · ')
}
