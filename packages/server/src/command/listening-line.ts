import { count, formatBytes } from '@serve-dist/manifest'
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
  /** Of the native engine, where somebody has said how many. */
  readonly threads?: number | undefined
}

/** What the listening line says of workers. */
export interface WorkersSummary {
  readonly count: number
  /** Bytes of one of them that are in memory. */
  readonly residentBytes: number
}

/** The one line that the command prints when it listens; the URL stands at its end. */
export function listeningLine({ version, summary, engine, url, workers, threads }: Listening): string {
  const { files, variants, bytesInMemory, keptBuilds, keptFiles } = summary
  const why = threads === undefined ? engine.why : count(threads, 'thread')
  const parts = [
    `serve-dist ${version}`,
    `${count(files, 'file')}, ${count(variants, 'variant')}, ${formatBytes(bytesInMemory)} in memory`,
    ...(keptFiles === 0 ? [] : [`${count(keptFiles, 'file')} of ${count(keptBuilds, 'earlier build')}`]),
    ...(workers === undefined
      ? []
      : [`${count(workers.count, 'worker')} of ${formatBytes(workers.residentBytes)} each`]),
    `engine: ${engine.name}${why === undefined ? '' : ` (${why})`}`,
    url,
  ]
  return parts.join(' · ')
}
