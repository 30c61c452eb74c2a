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

/** What operators see of one server. */
export interface Operations extends TransportWatcher {
  /** The URL of their listener, if it is on. */
  readonly url: string | undefined
  /** The listener with what is switched on around it; itself where nothing is. */
  watch(listener: RequestListener): RequestListener
  /** From now on the server serves a build, and takes requests. */
  becomeReady(holder: SiteHolder): void
  /** A reload has ended: `/readyz` has its outcome. */
  noteReload(result: ReloadResult): void
  /** For a cluster's primary process: the metrics, or why they cannot be read. */
  readMetrics(): Promise<RegistryContent | string>
  /** From now on `/readyz` asks for no new requests. */
  beginDraining(): void
  /** Writes the rest of the log, and closes the operators' listener. */
  close(): Promise<void>
}

/**
 * Starts what operators see, before a build is loaded.
 *
 * @throws OperatorError without a package that is needed, OperatorError when the address cannot be had.
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
  // Only the log has addresses.
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
        // In the order in which they ended.
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
    // Node remembers an address once it was read.
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
    // A rejection that nobody handles would end the worker, at each scrape.
    readMetrics: async () => (await metrics?.readContent().catch(String)) ?? 'they are off',
    beginDraining() {
      status = 'draining'
    },
    async close() {
      engine.close()
      await Promise.all(toClose.map((each) => each.close()))
    },
  }
}
