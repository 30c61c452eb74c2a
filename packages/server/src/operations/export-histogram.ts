import type * as PrometheusClient from 'prom-client'
import type { MetricRegistry } from './prometheus-client.ts'
import { type Durations, durationBuckets } from './request-counts.ts'

/**
 * Exports a histogram from existing counts. The histogram of `prom-client` only accepts single
 * observations.
 */
export function exportHistogram(
  client: typeof PrometheusClient,
  registry: MetricRegistry,
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
  // `prom-client` uses a second method for the text format.
  Object.assign(histogram, { get, getForPromString: get })
}
