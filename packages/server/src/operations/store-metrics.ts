import type * as PrometheusClient from 'prom-client'
import type { MetricRegistry } from './prometheus-client.ts'
import type { StoreView } from '../site/store-view.ts'

/** Exports the metrics of a store. Without a store, there are no time series. */
export function exportStore(
  { Counter, Gauge }: typeof PrometheusClient,
  registry: MetricRegistry,
  view: () => StoreView | undefined,
): void {
  const stored: readonly [typeof Counter | typeof Gauge, string, string, (store: StoreView) => number][] = [
    [
      Gauge,
      'reachable',
      'Whether the store of builds is reachable.',
      ({ state }) => (state.reachable ? 1 : 0),
    ],
    [Counter, 'looks_total', 'Checks of the current build in the store.', ({ figures }) => figures.looks],
    [
      Counter,
      'fetched_blobs_total',
      'Blobs that were fetched from the store.',
      ({ figures }) => figures.fetchedBlobs,
    ],
    [
      Counter,
      'fetched_bytes_total',
      'Bytes of blobs that were fetched from the store.',
      ({ figures }) => figures.fetchedBytes,
    ],
    [Gauge, 'cache_bytes', 'Bytes of blobs in the local cache.', ({ figures }) => figures.cacheBytes],
  ]
  for (const [Kind, end, help, read] of stored) {
    const name = `serve_dist_store_${end}`
    // Workers register the same metric without a value.
    registry.removeSingleMetric(name)
    void new Kind({
      name,
      help,
      // The label prevents a time series without a store.
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
