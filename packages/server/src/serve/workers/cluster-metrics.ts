import type { Worker } from 'node:cluster'
import type { Metrics } from '../../operations/metrics.ts'
import { loadPrometheusClient } from '../../operations/prometheus-client.ts'
import { exportStore } from '../../operations/store-metrics.ts'
import type { StoreView } from '../../site/store-view.ts'
import { type RequestMetrics, createWorkersReader } from './read-worker-metrics.ts'

/**
 * Creates a reader of the metrics of all workers, for the primary process of a cluster.
 *
 * @param workers - returns the listening workers.
 * @param store - the store, which only the primary process accesses. Its metrics are not summed.
 * @throws OperatorError without `prom-client`.
 */
export async function createClusterMetrics(
  workers: () => readonly Worker[],
  ask: RequestMetrics,
  store: () => StoreView | undefined,
): Promise<Pick<Metrics, 'contentType' | 'read'>> {
  const client = await loadPrometheusClient()
  const readWorkers = createWorkersReader(workers, ask)
  return {
    contentType: client.Registry.PROMETHEUS_CONTENT_TYPE,
    async read() {
      const { contents, answering, silent } = await readWorkers()
      const registry = client.AggregatorRegistry.aggregate([...contents])
      const gauge = new client.Gauge({
        name: 'serve_dist_workers',
        help: 'Listening workers, by whether they answered this scrape.',
        labelNames: ['state'],
        registers: [registry],
      })
      gauge.set({ state: 'answering' }, answering)
      gauge.set({ state: 'silent' }, silent)
      exportStore(client, registry, store)
      return await registry.metrics()
    },
  }
}
