import { renderingHosts } from '../rendering-hosts.ts'
import type { Workload } from '../workload.ts'
import { bundles } from './bundles.ts'

/** Static files and rendered pages from one process: how long each waits for the other. */
export const besideRendering: Workload = {
  name: 'beside-rendering',
  title: 'Five 50 KB bundles, while pages are rendered in the same process',
  servers: renderingHosts,
  prepare: async () => ({ ...(await bundles.prepare()), beside: '/rendered' }),
}
