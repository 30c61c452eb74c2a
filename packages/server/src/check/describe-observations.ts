import { pluralize } from '@serve-dist/foundation/text/pluralize'
import { escapeInvisible } from '@serve-dist/foundation/text/escape-invisible'
import { formatBytes } from '@serve-dist/foundation/text/byte-size'
import { type Finding, formatNames } from './finding.ts'
import type { Proxy } from './detect-proxies.ts'
import { type SiteFindingCode, findingMessages } from './finding-messages.ts'

/** One observation about a path. */
export interface SiteObservation {
  readonly code: SiteFindingCode
  readonly path: string
  /** A coding, a status, or the value or name of a header. */
  readonly detail?: string
  /** Bytes that a browser loads without need. */
  readonly bytes?: number
  /** Bytes that it should load. */
  readonly of?: number
}

/** Combines the observations of each kind into one finding, with the fixes for the proxies that were seen. */
export function describeObservations(
  observations: readonly SiteObservation[],
  seen: readonly Proxy[],
): Finding[] {
  const codes = new Set(observations.map(({ code }) => code))
  return [...codes].map((code) => {
    const group = observations.filter((observation) => observation.code === code)
    const { level, what, cost, mend, by = {} } = findingMessages[code]
    const paths = [...new Set(group.map(({ path }) => path))]
    const details = [
      ...new Set(group.flatMap(({ detail }) => (detail === undefined ? [] : printable(detail)))),
    ]
    const mends = seen.flatMap((proxy) => (by[proxy] === undefined ? [] : `In ${proxy}, ${by[proxy]}.`))
    const text = `${what}. ${cost}. ${mends.length > 0 ? mends.join(' ') : `${mend}.`}`
      .replace('{names}', () => formatNames(paths))
      .replace('{details}', () => formatNames(details, 3))
      .replace('{bytes}', () => describeLostSavings(group))
    return { code, level, paths, text }
  })
}

/** Shortens a header value and escapes control characters (C1), which Node accepts. */
function printable(detail: string): string {
  const text = escapeInvisible(detail)
  return text.length > longestDetail ? `${text.slice(0, longestDetail)}…` : text
}

const longestDetail = 200

/** Sums the lost bytes. A path counts once, although it may have lost several codings. */
function describeLostSavings(observations: readonly SiteObservation[]): string {
  const byPath = new Map(observations.map(({ path, bytes = 0, of = 0 }) => [path, { bytes, of }]))
  const sum = (name: 'bytes' | 'of'): number =>
    [...byPath.values()].reduce((all, each) => all + each[name], 0)
  const [lost, least] = [sum('bytes'), sum('of')]
  if (lost === 0) return 'Browsers load nothing more, but other clients do'
  const files = byPath.size === 1 ? 'it' : `these ${pluralize(byPath.size, 'file')}`
  return `A browser loads ${formatBytes(least + lost)} of ${files} instead of ${formatBytes(least)}`
}
