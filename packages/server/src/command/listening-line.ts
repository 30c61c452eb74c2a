import { networkInterfaces } from 'node:os'
import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import type { RunningEngine } from '../native/choose-engine.ts'
import type { SiteSummary } from '../site/site.ts'

export interface Listening {
  readonly version: string
  readonly summary: SiteSummary
  readonly engine: RunningEngine
  readonly url: string
  /** Present if several processes serve. */
  readonly workers?: WorkersSummary | undefined
}

export interface WorkersSummary {
  readonly count: number
  /** The size of one worker's bodies in memory. */
  readonly residentBytes: number
}

/** Returns the line that the command prints when it listens. The URL is its last part. */
export function listeningLine({ version, summary, engine, url, workers }: Listening): string {
  const { files, variants, bytesInMemory, keptBuilds, keptFiles } = summary
  const { name, why, threads = 1 } = engine
  const more = threads > 1 ? pluralize(threads, 'thread') : why
  const parts = [
    `serve-dist ${version}`,
    `${pluralize(files, 'file')}, ${pluralize(variants, 'variant')}, ${formatBytes(bytesInMemory)} in memory`,
    ...(keptFiles === 0
      ? []
      : [`${pluralize(keptFiles, 'hashed file')} of ${pluralize(keptBuilds, 'earlier build')}`]),
    ...(workers === undefined
      ? []
      : [`${pluralize(workers.count, 'worker')} of ${formatBytes(workers.residentBytes)} each`]),
    `engine: ${name}${more === undefined ? '' : ` (${more})`}`,
    url,
  ]
  return parts.join(' · ')
}

/**
 * Returns the line after it if the server listens on all addresses of this machine. It has a URL for other machines.
 *
 * @param url - the URL for this machine. Its host is `localhost`.
 */
export function allAddressesLine(url: string, interfaces: NetworkInterfaces = networkInterfaces()): string {
  const addresses = Object.values(interfaces).flatMap((all = []) => all)
  const outer = addresses.find(({ family, internal }) => family === 'IPv4' && !internal)
  return outer === undefined
    ? 'listening on all addresses'
    : `listening on all addresses, for other machines · ${url.replace('localhost', outer.address)}`
}

type NetworkInterfaces = ReturnType<typeof networkInterfaces>
