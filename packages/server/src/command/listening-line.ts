import type { SiteSummary } from '../site/site.ts'

const units = ['B', 'kB', 'MB', 'GB']

/** What the command prints when it listens. */
export interface Listening {
  readonly version: string
  readonly summary: SiteSummary
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
export function listeningLine({ version, summary, url, workers }: Listening): string {
  const { files, variants, bytesInMemory } = summary
  const parts = [
    `serve-dist ${version}`,
    `${count(files, 'file')}, ${count(variants, 'variant')}, ${formatBytes(bytesInMemory)} in memory`,
    ...(workers === undefined
      ? []
      : [`${count(workers.count, 'worker')} of ${formatBytes(workers.residentBytes)} each`]),
    url,
  ]
  return parts.join(' · ')
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Bytes for people, in decimal units as Vite prints them: `980 B`, `1.2 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  let value = bytes / 1000
  let power = 1
  // 999 950 B would be rounded to `1000.0 kB`.
  while (value >= 999.95 && power < units.length - 1) {
    value /= 1000
    power += 1
  }
  return `${value.toFixed(1)} ${units[power]}`
}
