import cluster, { type Worker } from 'node:cluster'
import { createClusterMetrics } from './cluster-metrics.ts'
import { type OpsAddress, startOpsServer } from '../../operations/ops-server.ts'
import { describeStore, nextReload, noReload } from '../../operations/readiness.ts'
import type { RequestMetrics } from './read-worker-metrics.ts'
import type { ServedBuild, SiteCounts } from '../../site/site.ts'
import type { StoreView } from '../../site/store-view.ts'
import type { Operations } from '../../operations/start-operations.ts'

/** The build of the workers, with the counts of the worker that reported last. A replaced worker keeps fewer earlier builds. */
type LoadedBuild = ServedBuild & SiteCounts

/** The probes and metrics of several workers, which the primary process answers. */
export interface PrimaryOperations extends Pick<
  Operations,
  'url' | 'noteReload' | 'beginDraining' | 'close'
> {
  /** Records that a worker listens. */
  noteListening(worker: Pick<Worker, 'id'>): void
  /** Records the build that the workers serve. */
  noteBuild(build: LoadedBuild): void
  /** Records the store of the builds. */
  noteStore(view: StoreView): void
}

/**
 * Starts the probes and metrics before the first worker. The status is `ready` while at least one worker
 * listens. Metrics are sums over all workers.
 *
 * @throws OperatorError without `prom-client` or if the address is not available.
 */
export async function startPrimaryOperations(
  ops: OpsAddress | 'primary' | undefined,
  requestMetrics: RequestMetrics,
): Promise<PrimaryOperations> {
  if (ops === undefined || ops === 'primary') {
    return {
      url: undefined,
      noteListening() {},
      noteBuild() {},
      noteStore() {},
      noteReload() {},
      beginDraining() {},
      async close() {},
    }
  }
  let isDraining = false
  let build: LoadedBuild | undefined
  let reload = noReload
  let store: StoreView | undefined
  const listening = new Set<number>()
  cluster.on('exit', ({ id }) => listening.delete(id))
  const workers = (): readonly Worker[] => [...listening].flatMap((id) => cluster.workers?.[id] ?? [])
  const metrics = await createClusterMetrics(workers, requestMetrics, () => store)
  const server = await startOpsServer(ops, {
    readiness() {
      const status = listening.size > 0 ? 'ready' : 'starting'
      return {
        status: isDraining ? 'draining' : status,
        ...build,
        ...(store !== undefined && { store: describeStore(store.state) }),
        reload,
      }
    },
    metrics,
  })
  return {
    url: server.url,
    noteListening({ id }) {
      listening.add(id)
    },
    noteBuild({ buildId, environment, unlistedFiles, keptBuilds, keptFiles }) {
      const counts = { unlistedFiles, keptBuilds, keptFiles }
      build = { buildId, ...(environment !== undefined && { environment }), ...counts }
    },
    noteStore(view) {
      store = view
    },
    noteReload(result) {
      reload = nextReload(reload, result)
    },
    beginDraining() {
      isDraining = true
    },
    close: async () => await server.close(),
  }
}
