import type { EngineCounts } from './observe-engine.ts'
import { exportHistogram } from './export-histogram.ts'
import type { RequestObserver } from './observe-requests.ts'
import { loadPrometheusClient } from './prometheus-client.ts'
import { createRequestCounts, labelsOf } from './request-counts.ts'
import { servedBuild, type Site } from '../site/site.ts'
import type { SiteHolder } from '../site/site-holder.ts'
import { exportStore } from './store-metrics.ts'

/** The content of a registry of `prom-client`, as JSON. */
export type RegistryContent = readonly object[]

/** Counts requests for Prometheus. */
export interface Metrics extends RequestObserver {
  readonly contentType: string
  /** In the text format of Prometheus. */
  read(): Promise<string>
  /** For a cluster's primary process: see `serve/workers/cluster-metrics.ts`. */
  readContent(): Promise<RegistryContent>
  /** Lets the primary process of another program ask as `prom-client` does. */
  answerAggregator(): void
}

/**
 * Starts to count requests and to watch the process.
 *
 * @param holder - of the current build; `undefined` before the first one is loaded.
 * @param readEngine - what it has counted of its own answers; `undefined` where there is none.
 * @throws OperatorError without `prom-client`.
 */
export async function createMetrics(
  holder: () => SiteHolder | undefined,
  readEngine: () => EngineCounts | undefined,
): Promise<Metrics> {
  const currentSite = (): Site | undefined => holder()?.current
  const client = await loadPrometheusClient()
  const registry = new client.Registry()
  client.collectDefaultMetrics({ register: registry })
  const registers = [registry]

  const { byLabels, totals, durations, observer } = createRequestCounts(currentSite)
  const engine = onceATurn(readEngine)
  void new client.Counter({
    name: 'serve_dist_requests_total',
    help: 'Requests that were answered, by class of status, content coding and use by caches.',
    labelNames: ['status', 'coding', 'cache'],
    registers,
    collect() {
      this.reset()
      for (const { labels, count } of byLabels.values()) this.inc(labels, count)
      for (const [answer, count] of engine()?.byClass ?? []) if (count > 0) this.inc(labelsOf(answer), count)
    },
  })
  const { Counter, Gauge } = client
  const numbers: readonly [typeof Counter | typeof Gauge, name: string, help: string, read: () => number][] =
    [
      [
        Counter,
        'requests_aborted_total',
        'Requests whose client went away before the end.',
        () => totals.aborted + (engine()?.aborted ?? 0),
      ],
      [
        Counter,
        'connections_dropped_total',
        'Connections beyond the most that may be open.',
        () => totals.dropped + (engine()?.dropped ?? 0),
      ],
      [
        Counter,
        'engine_panics_total',
        'Faults of the native engine, each of which closes one connection at most.',
        () => engine()?.panics ?? 0,
      ],
      [
        Counter,
        'sent_bytes_total',
        'Bytes of bodies that were sent, as encoded.',
        () => totals.sent + (engine()?.bytes ?? 0),
      ],
      [
        Counter,
        'saved_bytes_total',
        "Bytes that the build's codings saved of bodies.",
        () => totals.saved + (engine()?.savedBytes ?? 0),
      ],
      [
        Counter,
        'skew_misses_total',
        'Hashed files that were asked for and that nobody has: of builds that are gone.',
        () => totals.missed,
      ],
      [
        Gauge,
        'kept_builds',
        'Earlier builds of which files are answered.',
        () => currentSite()?.summary.keptBuilds ?? 0,
      ],
      [
        Gauge,
        'kept_files',
        'Files of earlier builds that are answered.',
        () => currentSite()?.summary.keptFiles ?? 0,
      ],
      [
        Gauge,
        'requests_in_flight',
        'Requests that are being answered.',
        () => totals.begun - totals.ended + (engine()?.underWay ?? 0),
      ],
      [
        Gauge,
        'held_body_bytes',
        'Bytes of bodies in memory.',
        () => currentSite()?.summary.bytesInMemory ?? 0,
      ],
    ]
  for (const [Kind, name, help, read] of numbers) {
    void new Kind({
      name: `serve_dist_${name}`,
      help,
      // Of workers, each keeps the same.
      ...(name.startsWith('kept_') && { aggregator: 'max' as const }),
      registers,
      collect() {
        this.reset()
        this.inc(read())
      },
    })
  }
  exportStore(client, registry, () => holder()?.store)
  exportHistogram(client, registry, () => {
    const { seconds = 0, byDuration = [] } = engine() ?? {}
    return {
      seconds: durations.seconds + seconds,
      byDuration: durations.byDuration.map((count, bucket) => count + (byDuration[bucket] ?? 0)),
    }
  })
  void new client.Gauge({
    name: 'serve_dist_build_info',
    help: 'The build that is served, and the digest of its environment, as labels of the value 1.',
    labelNames: ['build_id', 'environment'],
    // A sum over workers would count the workers.
    aggregator: 'max',
    registers,
    collect() {
      this.reset()
      const site = currentSite()
      if (site === undefined) return
      const { buildId, ...environment } = servedBuild(site)
      this.set({ build_id: buildId, ...environment }, 1)
    },
  })

  return {
    contentType: registry.contentType,
    ...observer,
    read: async () => await registry.metrics(),
    readContent: async () => await registry.getMetricsAsJSON(),
    answerAggregator() {
      // Creating one is what makes this process answer.
      client.AggregatorRegistry.setRegistries([registry])
      void new client.AggregatorRegistry()
    },
  }
}

/** All metrics of a scrape are collected in one turn: what takes time to read is read for the first of them. */
function onceATurn<Value>(read: () => Value): () => Value {
  let latest: { readonly value: Value } | undefined
  return () => {
    if (latest === undefined) {
      latest = { value: read() }
      queueMicrotask(() => {
        latest = undefined
      })
    }
    return latest.value
  }
}
