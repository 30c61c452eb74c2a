import { allowHosts } from '../transport/allow-hosts.ts'
import { createHandler } from '../hosts/handler.ts'
import { idleOptions } from './idle-options.ts'
import { listen } from '../transport/listen.ts'
import { listenForRedirects } from '../transport/listen-for-redirects.ts'
import { oneAtATime } from '../files/one-at-a-time.ts'
import { openStagedSiteStore, type ReloadOutcome, type StagedSiteStore } from '../load/open-site-store.ts'
import { openTransport } from './open-transport.ts'
import { resolveServeOptions, type ServeOptions } from './serve-options.ts'
import type { Site } from '../site/site.ts'
import { resolveSiteStoreOptions } from '../load/load-options.ts'
import { startApplication } from '../application/mount-application.ts'
import { type Operations, startOperations } from '../operations/start-operations.ts'
import type { RequestListener } from '../transport/transport.ts'
import { withHsts } from './with-hsts.ts'

/** A server that listens. */
export interface RunningServer {
  /** Where the build is to be found, its base included; for a unix socket as nginx has it: `http://unix:/path:/base/`. */
  readonly url: string
  /** Where operators ask for probes and metrics, if they may. */
  readonly opsUrl: string | undefined
  /** Where plain HTTP is sent on to HTTPS, if it is. */
  readonly redirectUrl: string | undefined
  /** The build that is served now. */
  readonly site: Site
  /**
   * Loads the build that the folder has now beside the one that is served, and swaps them once it is checked;
   * before that, reads the certificate again.
   * It never rejects: what cannot be served is refused, and the build before it is served on.
   */
  reload(): Promise<ReloadOutcome>
  /**
   * Stops: no new connections, idle ones are closed at once, answers in flight are finished within the
   * grace period. Settles when the last socket is closed; further calls wait for the same end.
   */
  close(): Promise<void>
}

/**
 * Loads a build and serves it over HTTP. An option that does nothing beside the others is told to `site.onWarning`.
 *
 * @throws OperatorError when the build cannot be served, OperatorError when `ssr` cannot be mounted, OperatorError when
 * `tls` has no certificate with its key, OperatorError when the address cannot be had, OperatorError without a
 * package that an option needs, TypeError for a wrong option; then nothing listens.
 */
export async function serve(options: ServeOptions = {}): Promise<RunningServer> {
  return await serveStaged(options, async () => {
    // By now all of them are known to be right.
    const { onWarning } = resolveSiteStoreOptions(options.site ?? {})
    for (const idle of idleOptions(options)) onWarning(idle)
  })
}

/** A server of a worker: which build it serves is decided for all of them. */
export interface StagedServer extends RunningServer {
  /** Reads the certificate again. It never rejects. */
  reloadCertificate(): Promise<void>
}

/** Settles when a worker may listen; its primary may read the metrics from now on. */
export type MayListen = (store: StagedSiteStore, readMetrics: Operations['readMetrics']) => Promise<void>

/** As {@link serve}; it listens once that is allowed. */
export async function serveStaged(options: ServeOptions, mayListen: MayListen): Promise<StagedServer> {
  const resolved = resolveServeOptions(options)
  const { tls } = resolved

  // 1. What operators see: probes are answered before there is a build.
  const operations = await startOperations(resolved.operations)

  // 2. The build, as a table in memory.
  const store = await openStagedSiteStore(resolved.directory, withHsts(resolved.site, tls?.hsts)).catch(
    async (error: unknown) => {
      await operations.close()
      throw error
    },
  )
  const giveUp = async (error: unknown): Promise<never> => {
    store.close()
    await operations.close()
    throw error
  }

  // 3. Who answers: the table, then the application.
  const handle = createHandler(store, resolved.handler)
  const application =
    resolved.ssr === undefined ? undefined : await startApplication(resolved.ssr).catch(giveUp)
  const answer: RequestListener =
    application === undefined
      ? handle
      : (request, response) => handle(request, response, () => application(request, response))
  const listener = operations.watch(allowHosts(answer, resolved.allowHosts))

  // 4. How requests come, and where.
  const takesUploads = application !== undefined
  const transport = await openTransport(listener, { takesUploads, watcher: operations }, tls).catch(giveUp)
  const hangUp = async (error: unknown): Promise<never> => {
    // It may not listen, but it watches its certificate.
    await transport.drain(0)
    return giveUp(error)
  }
  await mayListen(store, async () => operations.readMetrics()).catch(hangUp)
  const origin = await listen(transport, resolved.address).catch(hangUp)
  const { host, allowHosts: hosts } = resolved
  const redirectAddress = { host, port: tls?.redirectPort, allowHosts: hosts, watcher: operations }
  const redirects = await listenForRedirects(transport, redirectAddress).catch(hangUp)
  operations.becomeReady(store)

  const reload = oneAtATime(async () => {
    await transport.reload?.()
    const outcome = await store.reload()
    operations.noteReload(outcome)
    return outcome
  })
  const drain = async (): Promise<void> => {
    operations.beginDraining()
    const redirectsClosed = redirects?.transport.drain(resolved.gracePeriod)
    await transport.drain(resolved.gracePeriod)
    await redirectsClosed
    store.close()
    await operations.close()
  }

  let closed: Promise<void> | undefined
  return {
    get url() {
      return origin + store.current.base
    },
    opsUrl: operations.url,
    redirectUrl: redirects?.url,
    get site() {
      return store.current
    },
    reload,
    reloadCertificate: async () => await transport.reload?.(),
    close() {
      closed ??= drain()
      return closed
    },
  }
}
