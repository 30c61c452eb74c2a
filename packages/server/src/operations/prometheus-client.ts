import { loadOptional } from '@serve-dist/manifest'
import type * as PrometheusClient from 'prom-client'

export type MetricRegistry = PrometheusClient.Registry<PrometheusClient.RegistryContentType>

/** @throws OperatorError if the package is not installed. */
export async function loadPrometheusClient(): Promise<typeof PrometheusClient> {
  return await loadOptional(
    { name: 'prom-client', neededBy: 'the metrics endpoint' },
    async () => await import('prom-client'),
  )
}
