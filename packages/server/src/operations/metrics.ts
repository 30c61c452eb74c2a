import type { EngineCounts } from './observe-engine.ts'
import { exportHistogram } from './export-histogram.ts'
import type { RequestObserver } from './observe-requests.ts'
import { loadPrometheusClient } from './prometheus-client.ts'
import { createRequestCounts, labelsOf } from './request-counts.ts'
import { servedBuild, type Site } from '../site/site.ts'
import type { SiteHolder } from '../site/site-holder.ts'
import { exportStore } from './store-metrics.ts'

/** The content of a `prom-client` registry as JSON. */
export type RegistryContent = readonly object[]

/** Request metrics for Prometheus. */
export interface Metrics extends RequestObserver {
  readonly contentType: string
  /** Returns the metrics in the text format of Prometheus. */
  read(): Promise<string>
  /** Returns the metrics for a cluster's primary process: see `serve/workers/cluster-metrics.ts`. */
  readContent(): Promise<RegistryContent>
  /** Answers the `prom-client` aggregator in the primary process of another program. */
  answerAggregator(): void
}

/**
 * Starts to count requests and to observe the process.
 *
 * @param holder - returns the current site; `undefined` before the first build is loaded.
 * @param readEngine - returns the engine's counters; `undefined` without an engine.
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

  const { byLabels, totals, durations, upstreams, observer } = createRequestCounts(currentSite)
  const engine = onceATurn(readEngine)
  void new client.Counter({
    name: 'serve_dist_requests_total',
    help: 'Answered requests, by class of status, content coding and cacheability.',
    labelNames: ['status', 'coding', 'cache'],
    registers,
    collect() {
      this.reset()
      for (const { labels, count } of byLabels.values()) this.inc(labels, count)
      for (const [answer, count] of engine()?.byClass ?? []) if (count > 0) this.inc(labelsOf(answer), count)
    },
  })
  const { Counter, Gauge } = client
  for (const [name, help, read] of [
    ['requests', 'Forwarded requests, by rule and class of status (failed: no answer).', 'count'],
    ['seconds', "Time until the heads of the targets' answers, by rule and class of status.", 'seconds'],
  ] as const) {
    void new Counter({
      name: `serve_dist_upstream_${name}_total`,
      help,
      labelNames: ['rule', 'status'],
      registers,
      collect() {
        this.reset()
        for (const each of upstreams.values()) this.inc(each.labels, each[read])
      },
    })
  }
  const numbers: readonly [typeof Counter | typeof Gauge, name: string, help: string, read: () => number][] =
    [
      [
        Counter,
        'requests_aborted_total',
        'Requests whose client disconnected before the end of the answer.',
        () => totals.aborted + (engine()?.aborted ?? 0),
      ],
      [
        Counter,
        'connections_dropped_total',
        'Connections that were closed because too many were open.',
        () => totals.dropped + (engine()?.dropped ?? 0),
      ],
      [
        Counter,
        'engine_panics_total',
        'Faults of the native engine, each of which closes at most one connection.',
        () => engine()?.panics ?? 0,
      ],
      [
        Counter,
        'sent_bytes_total',
        'Bytes of sent bodies, as encoded.',
        () => totals.sent + (engine()?.bytes ?? 0),
      ],
      [
        Counter,
        'saved_bytes_total',
        'Bytes of bodies that the codings of the build saved.',
        () => totals.saved + (engine()?.savedBytes ?? 0),
      ],
      [Counter, 'skew_misses_total', 'Requests for hashed files of unavailable builds.', () => totals.missed],
      [
        Gauge,
        'kept_builds',
        'Earlier builds with served files.',
        () => currentSite()?.summary.keptBuilds ?? 0,
      ],
      [Gauge, 'kept_files', 'Served files of earlier builds.', () => currentSite()?.summary.keptFiles ?? 0],
      [
        Gauge,
        'requests_in_flight',
        'Requests in progress.',
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
      // The values of all workers are equal.
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
    help: 'The served build and the digest of its environment, as labels of the value 1.',
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
      // The constructor registers the listener that answers.
      client.AggregatorRegistry.setRegistries([registry])
      void new client.AggregatorRegistry()
    },
  }
}

/**
 * Caches a value for one turn of the event loop. Prometheus metrics of a scrape are collected in the same
 * turn.
 */
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
