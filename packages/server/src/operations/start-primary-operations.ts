import cluster from 'node:cluster'
import { createClusterMetrics } from './metrics.ts'
import { type OpsAddress, startOpsServer } from './ops-server.ts'
import type { Operations } from './start-operations.ts'

/** What operators see of several workers, told by their primary process. */
export type PrimaryOperations = Pick<Operations, 'url' | 'beginDraining' | 'close'>

/**
 * Starts what operators see, before there is a worker: ready is who has one that listens, and metrics are the
 * sums over all.
 *
 * @throws OptionalPackageError without `prom-client`, ListenError when the address cannot be had.
 */
export async function startPrimaryOperations(
  ops: OpsAddress | 'primary' | undefined,
): Promise<PrimaryOperations> {
  if (ops === undefined || ops === 'primary') {
    return { url: undefined, beginDraining() {}, async close() {} }
  }
  let isDraining = false
  const listening = new Set<number>()
  cluster.on('listening', ({ id }) => listening.add(id))
  cluster.on('exit', ({ id }) => listening.delete(id))
  const metrics = await createClusterMetrics(() => {
    return [...listening].flatMap((id) => cluster.workers?.[id] ?? [])
  })
  const server = await startOpsServer(ops, {
    readiness() {
      if (isDraining) return 'draining'
      return listening.size > 0 ? 'ready' : 'starting'
    },
    metrics,
  })
  return {
    url: server.url,
    beginDraining() {
      isDraining = true
    },
    close: async () => await server.close(),
  }
}
