import { type AccessLog, openAccessLog } from './access-log.ts'
import { createMetrics, type Metrics, type RegistryContent } from './metrics.ts'
import { durationBuckets } from './request-counts.ts'
import { observeEngine } from './observe-engine.ts'
import { observeRefusals } from './observe-refusals.ts'
import { observeRequests, type RequestObserver } from './observe-requests.ts'
import type { Exchange } from './exchange.ts'
import type { OperationsOptions } from './operations-options.ts'
import { type OpsServer, startOpsServer } from './ops-server.ts'
import { describeStore, nextReload, noReload, type Readiness, type ReloadResult } from './readiness.ts'
import { servedBuild, type Site, siteCounts } from '../site/site.ts'
import type { SiteHolder } from '../site/site-holder.ts'
import type { RequestListener, TransportWatcher } from '../transport/transport.ts'
import { addressOfPeer, createAddressReader, parseProxyTrust } from './trust-proxy.ts'

/** The log, probes and metrics of a server. */
export interface Operations extends TransportWatcher {
  /** The URL of the probes and metrics, if enabled. */
  readonly url: string | undefined
  /** Wraps a listener with the enabled observers; returns it unchanged without any. */
  watch(listener: RequestListener): RequestListener
  /** Sets the status to `ready`. */
  becomeReady(holder: SiteHolder): void
  /** Records the outcome of a reload for `/readyz`. */
  noteReload(result: ReloadResult): void
  /** Returns the metrics for a cluster's primary process, or why they cannot be read. */
  readMetrics(): Promise<RegistryContent | string>
  /** Sets the status to `draining`. */
  beginDraining(): void
  /** Writes the rest of the log and closes the server for probes and metrics. */
  close(): Promise<void>
}

/**
 * Starts the log, probes and metrics, before a build is loaded.
 *
 * @throws OperatorError if a package is missing or the address is not available.
 */
export async function startOperations({
  accessLog,
  ops,
  trustProxy,
}: OperationsOptions): Promise<Operations> {
  let status: Readiness['status'] = 'starting'
  let reload = noReload
  let site: SiteHolder | undefined
  const observers: RequestObserver[] = []
  const toClose: { close(): Promise<void> }[] = []

  const trust = trustProxy === undefined ? undefined : parseProxyTrust(trustProxy)
  // Only the log needs addresses.
  const addressOf = accessLog === undefined ? () => '' : createAddressReader(trust)
  const peerOf = accessLog === undefined ? () => '' : addressOfPeer
  let log: AccessLog | undefined
  const current = (): Site | undefined => site?.current
  const write = (exchange: Exchange, of = current()): void => log?.write(exchange, of)
  const note = accessLog === undefined ? undefined : write
  const engine = observeEngine({ durationBuckets, note, current, addressOf, observers })

  let server: OpsServer | undefined
  let metrics: Metrics | undefined
  if (ops !== undefined) {
    metrics = await createMetrics(() => site, engine.readCounts)
    observers.push(metrics)
    if (ops === 'primary') {
      metrics.answerAggregator()
    } else {
      const readiness = (): Readiness => ({
        status,
        ...(site !== undefined && { ...servedBuild(site.current), ...siteCounts(site.current) }),
        ...(site?.store !== undefined && { store: describeStore(site.store.state) }),
        reload,
      })
      server = await startOpsServer(ops, { readiness, metrics })
      toClose.push(server)
    }
  }
  if (accessLog !== undefined) {
    log = await openAccessLog(accessLog).catch(async (error: unknown) => {
      await server?.close()
      throw error
    })
    observers.push({
      end(exchange) {
        // Records the engine's answers first, to keep the order of their ends.
        engine.noteEnded()
        write(exchange)
      },
    })
    toClose.push(log)
  }

  return {
    engine,
    url: server?.url,
    watch(listener) {
      return observeRequests(listener, { observers, addressOf })
    },
    // Node caches the address after the first access.
    noteConnection: (socket) => void peerOf(socket),
    noteRefusal: observeRefusals(observers, peerOf),
    noteDrop() {
      for (const { drop } of observers) drop?.()
    },
    becomeReady(holder) {
      site = holder
      status = 'ready'
    },
    noteReload(result) {
      reload = nextReload(reload, result)
    },
    // An unhandled rejection would end the worker at each scrape.
    readMetrics: async () => (await metrics?.readContent().catch(String)) ?? 'metrics are disabled',
    beginDraining() {
      status = 'draining'
    },
    async close() {
      engine.close()
      await Promise.all(toClose.map((each) => each.close()))
    },
  }
}
