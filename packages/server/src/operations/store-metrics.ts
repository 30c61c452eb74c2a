import type * as PrometheusClient from 'prom-client'
import type { MetricRegistry } from './prometheus-client.ts'
import type { StoreView } from '../site/store-view.ts'

/** Shows what a store is asked for; there are no series where there is none. */
export function exportStore(
  { Counter, Gauge }: typeof PrometheusClient,
  registry: MetricRegistry,
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
