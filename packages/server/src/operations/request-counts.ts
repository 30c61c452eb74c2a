import type { AnswerSummary, Exchange } from './exchange.ts'
import { wasSkewMiss } from './log-entry.ts'
import type { RequestObserver } from './observe-requests.ts'
import type { UpstreamNote } from '../site/upstream-note.ts'
import type { Site } from '../site/site.ts'

/**
 * Upper bounds in seconds: a file in memory takes far less than a millisecond, a rendered page some
 * hundred.
 */
export const durationBuckets: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
]
const knownCodings: ReadonlySet<string> = new Set(['identity', 'gzip', 'br', 'zstd', 'dcb', 'dcz'])

/**
 * Counts of requests as plain numbers. Calling `inc` of `prom-client` per request would hash the labels
 * each time.
 */
export interface RequestCounts {
  readonly byLabels: ReadonlyMap<string, LabelledCount>
  readonly totals: Readonly<typeof noTotals>
  readonly durations: Readonly<Durations>
  /** Forwarded requests by rule and class of status. */
  readonly upstreams: ReadonlyMap<string, UpstreamCount>
  /** Updates the counts. */
  readonly observer: RequestObserver
}

interface LabelledCount {
  readonly labels: { readonly status: string; readonly coding: string; readonly cache: string }
  count: number
}

interface UpstreamCount {
  /** `status` is `failed` if the target sent no answer. */
  readonly labels: { readonly rule: string; readonly status: string }
  count: number
  /** The time until the heads of the answers. */
  seconds: number
}

/** Counts of durations per bucket; the last bucket has no upper bound. */
export interface Durations {
  seconds: number
  readonly byDuration: readonly number[]
}

const noTotals = { begun: 0, ended: 0, aborted: 0, dropped: 0, sent: 0, saved: 0, missed: 0 }

/** @param currentSite - returns the current site; `undefined` before the first build is loaded. */
export function createRequestCounts(currentSite: () => Site | undefined): RequestCounts {
  const byLabels = new Map<string, LabelledCount>()
  const upstreams = new Map<string, UpstreamCount>()
  const totals = { ...noTotals }
  const byDuration = durationBuckets.map(() => 0).concat(0)
  const durations = { seconds: 0, byDuration }

  function countLabels(exchange: Exchange): void {
    const labels = labelsOf(exchange)
    const key = Object.values(labels).join(' ')
    const known = byLabels.get(key)
    if (known === undefined) byLabels.set(key, { labels, count: 1 })
    else known.count += 1
  }

  function countUpstream({ rule, status, milliseconds = 0 }: UpstreamNote): void {
    if (rule === undefined) return
    const labels = { rule, status: status === undefined ? 'failed' : classOfStatus(status) }
    const key = Object.values(labels).join(' ')
    const known = upstreams.get(key) ?? { labels, count: 0, seconds: 0 }
    known.count += 1
    known.seconds += milliseconds / 1000
    upstreams.set(key, known)
  }

  function countDuration(seconds: number): void {
    const bucket = durationBuckets.findIndex((most) => seconds <= most)
    const at = bucket === -1 ? durationBuckets.length : bucket
    durations.seconds += seconds
    byDuration[at] = (byDuration[at] ?? 0) + 1
  }

  const observer: RequestObserver = {
    begin() {
      totals.begun += 1
    },
    drop() {
      totals.dropped += 1
    },
    end(exchange) {
      totals.ended += 1
      if (exchange.isAborted) totals.aborted += 1
      const site = currentSite()
      if (site !== undefined && wasSkewMiss(exchange, site)) totals.missed += 1
      totals.sent += exchange.bytes
      totals.saved += exchange.savedBytes
      countLabels(exchange)
      if (exchange.upstream !== undefined) countUpstream(exchange.upstream)
      if (exchange.milliseconds !== undefined) countDuration(exchange.milliseconds / 1000)
    },
  }
  return { byLabels, totals, durations, upstreams, observer }
}

function classOfStatus(status: number): string {
  return `${Math.floor(status / 100)}xx`
}

/** Returns the metric labels of an answer. */
export function labelsOf({ status, coding, cache }: AnswerSummary): LabelledCount['labels'] {
  return {
    status: classOfStatus(status),
    // An application may send arbitrary codings, which must not create arbitrary time series.
    coding: knownCodings.has(coding) ? coding : 'other',
    cache,
  }
}
