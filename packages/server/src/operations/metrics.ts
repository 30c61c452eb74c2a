import { loadOptional } from '@serve-dist/manifest'
import type { Worker } from 'node:cluster'
import type * as PrometheusClient from 'prom-client'
import type { AnswerSummary, Exchange } from './exchange.ts'
import { wasSkewMiss } from './log-entry.ts'
import type { EngineCounts } from './observe-engine.ts'
import type { RequestObserver } from './observe-requests.ts'
import { servedBuild, type Site, type SiteHolder, type StoreView } from '../site/site.ts'
import { type AskMetrics, createWorkersReader, type RegistryContent } from './worker-metrics.ts'

/** Counts requests for Prometheus. */
export interface Metrics extends RequestObserver {
  readonly contentType: string
  /** In the text format of Prometheus. */
  read(): Promise<string>
  /** For a cluster's primary process: see `createClusterMetrics`. */
  readContent(): Promise<RegistryContent>
  /** Lets the primary process of another program ask as `prom-client` does. */
  answerAggregator(): void
}

/** Upper bounds in seconds; a file from memory takes well below a millisecond, a page that is rendered a few hundred. */
export const durationBuckets: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
]
const knownCodings: ReadonlySet<string> = new Set(['identity', 'gzip', 'br', 'zstd', 'dcb', 'dcz'])

/**
 * Starts to count requests and to watch the process.
 *
 * @param holder - of the current build; `undefined` before the first one is loaded.
 * @param engine - what it has counted of its own answers; `undefined` where there is none.
 * @throws OperatorError without `prom-client`.
 */
export async function createMetrics(
  holder: () => SiteHolder | undefined,
  engine: () => EngineCounts | undefined,
): Promise<Metrics> {
  const currentSite = (): Site | undefined => holder()?.current
  const client = await loadClient()
  const registry = new client.Registry()
  client.collectDefaultMetrics({ register: registry })
  const registers = [registry]

  // Plain numbers, which a scrape copies: each `inc` would hash its labels again.
  const requests = new Map<string, RequestCount>()
  const totals = { begun: 0, ended: 0, aborted: 0, dropped: 0, sent: 0, saved: 0, missed: 0 }
  void new client.Counter({
    name: 'serve_dist_requests_total',
    help: 'Requests that were answered, by class of status, content coding and use by caches.',
    labelNames: ['status', 'coding', 'cache'],
    registers,
    collect() {
      this.reset()
      for (const { labels, count } of requests.values()) this.inc(labels, count)
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
        () => totals.dropped,
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
  countStore(client, registry, () => holder()?.store)
  const durations = { seconds: 0, byDuration: durationBuckets.map(() => 0).concat(0) }
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
      countRequest(requests, exchange)
      if (exchange.milliseconds !== undefined) countDuration(durations, exchange.milliseconds / 1000)
    },
    read: async () => await registry.metrics(),
    readContent: async () => await registry.getMetricsAsJSON(),
    answerAggregator() {
      // Creating one is what makes this process answer.
      client.AggregatorRegistry.setRegistries([registry])
      void new client.AggregatorRegistry()
    },
  }
}

/**
 * Makes a reader of sums over all workers, for the primary process of a cluster.
 *
 * @param workers - those that listen.
 * @param store - which the primary alone asks, so that its figures are no sum.
 * @throws OperatorError without `prom-client`.
 */
export async function createClusterMetrics(
  workers: () => readonly Worker[],
  ask: AskMetrics,
  store: () => StoreView | undefined,
): Promise<Pick<Metrics, 'contentType' | 'read'>> {
  const client = await loadClient()
  const readWorkers = createWorkersReader(workers, ask)
  return {
    contentType: client.Registry.PROMETHEUS_CONTENT_TYPE,
    async read() {
      const { contents, answering, silent } = await readWorkers()
      const registry = client.AggregatorRegistry.aggregate([...contents])
      const gauge = new client.Gauge({
        name: 'serve_dist_workers',
        help: 'Workers that listen, by whether they answered when this was asked for.',
        labelNames: ['state'],
        registers: [registry],
      })
      gauge.set({ state: 'answering' }, answering)
      gauge.set({ state: 'silent' }, silent)
      countStore(client, registry, store)
      return await registry.metrics()
    },
  }
}

function countStore(
  { Counter, Gauge }: typeof PrometheusClient,
  registry: PrometheusClient.Registry<PrometheusClient.RegistryContentType>,
  view: () => StoreView | undefined,
): void {
  const stored: readonly [typeof Counter | typeof Gauge, string, string, (store: StoreView) => number][] = [
    [Gauge, 'reachable', 'Whether the store of builds answers.', ({ state }) => (state.reachable ? 1 : 0)],
    [Counter, 'looks_total', 'Looks at what is current in the store.', ({ figures }) => figures.looks],
    [
      Counter,
      'fetched_blobs_total',
      'Blobs that came from the store.',
      ({ figures }) => figures.fetchedBlobs,
    ],
    [Counter, 'fetched_bytes_total', 'Their bytes.', ({ figures }) => figures.fetchedBytes],
    [
      Gauge,
      'cache_bytes',
      'Bytes of blobs in the cache on this machine.',
      ({ figures }) => figures.cacheBytes,
    ],
  ]
  for (const [Kind, end, help, read] of stored) {
    const name = `serve_dist_store_${end}`
    // Workers have the same one, without a value.
    registry.removeSingleMetric(name)
    void new Kind({
      name,
      help,
      // With a label there is no series where there is no store.
      labelNames: ['place'],
      registers: [registry],
      collect() {
        this.reset()
        const store = view()
        if (store !== undefined) this.inc({ place: store.place }, read(store))
      },
    })
  }
}

interface RequestCount {
  readonly labels: { readonly status: string; readonly coding: string; readonly cache: string }
  count: number
}

function countRequest(requests: Map<string, RequestCount>, exchange: Exchange): void {
  const labels = labelsOf(exchange)
  const key = Object.values(labels).join(' ')
  const known = requests.get(key)
  if (known === undefined) requests.set(key, { labels, count: 1 })
  else known.count += 1
}

function labelsOf({ status, coding, cache }: AnswerSummary): RequestCount['labels'] {
  return {
    status: `${Math.floor(status / 100)}xx`,
    // An application may invent codings, and nobody wants a series for each.
    coding: knownCodings.has(coding) ? coding : 'other',
    cache,
  }
}

/** Durations by their buckets, with one more behind the last bound. */
interface Durations {
  seconds: number
  readonly byDuration: number[]
}

function countDuration(durations: Durations, seconds: number): void {
  const bucket = durationBuckets.findIndex((most) => seconds <= most)
  const at = bucket === -1 ? durationBuckets.length : bucket
  durations.seconds += seconds
  durations.byDuration[at] = (durations.byDuration[at] ?? 0) + 1
}

/** The client's histogram counts by itself what is observed one by one, and takes no counts. */
function exportHistogram(
  client: typeof PrometheusClient,
  registry: PrometheusClient.Registry<PrometheusClient.RegistryContentType>,
  read: () => Readonly<Durations>,
): void {
  const name = 'serve_dist_request_duration_seconds'
  const help = 'Time from the head of a request to the end of its answer.'
  const histogram = new client.Histogram({ name, help, buckets: [...durationBuckets], registers: [registry] })
  const get = async (): Promise<object> => {
    const { seconds, byDuration } = read()
    let count = 0
    const buckets = byDuration.map((inBucket, at) => {
      count += inBucket
      return { metricName: `${name}_bucket`, labels: { le: durationBuckets[at] ?? '+Inf' }, value: count }
    })
    const values = [
      ...buckets,
      { metricName: `${name}_sum`, labels: {}, value: seconds },
      { metricName: `${name}_count`, labels: {}, value: count },
    ]
    return { name, help, type: 'histogram', values, aggregator: 'sum' }
  }
  // It has a second method for text.
  Object.assign(histogram, { get, getForPromString: get })
}

async function loadClient(): Promise<typeof PrometheusClient> {
  return await loadOptional(
    { name: 'prom-client', neededBy: 'the page of metrics' },
    async () => await import('prom-client'),
  )
}
