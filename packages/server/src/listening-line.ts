import { formatBytes } from './format-bytes.ts'
import type { SiteSummary } from './site.ts'

/** What the command tells when it listens. */
export interface Listening {
  readonly version: string
  readonly summary: SiteSummary
  readonly url: string
}

/** The one line that the command prints when it listens; the URL stands at its end. */
export function listeningLine({ version, summary, url }: Listening): string {
  const { files, variants, bytesInMemory } = summary
  return `serve-dist ${version} · ${count(files, 'file')}, ${count(variants, 'variant')}, ${formatBytes(bytesInMemory)} in memory · ${url}`
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
