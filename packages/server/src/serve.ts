import { createHandler } from './handler.ts'
import { listen } from './listen.ts'
import { listenForRedirects } from './listen-for-redirects.ts'
import { openSiteStore, type ReloadOutcome } from './open-site-store.ts'
import { openTransport } from './open-transport.ts'
import { resolveServeOptions, type ServeOptions } from './serve-options.ts'
import type { Site } from './site.ts'
import { startApplication } from './start-application.ts'
import type { RequestListener } from './transport.ts'
import { withHsts } from './with-hsts.ts'

/** A server that listens. */
export interface RunningServer {
  /** Where the build is to be found, its base included; for a unix socket as nginx has it: `http://unix:/path:/base/`. */
  readonly url: string
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
 * Loads a build and serves it over HTTP.
 *
 * @throws SiteError when the build cannot be served, ApplicationError when `ssr` cannot be mounted, TlsError when
 * `tls` has no certificate with its key, ListenError when the address cannot be had, TypeError for a wrong option; then nothing listens.
 */
export async function serve(options: ServeOptions = {}): Promise<RunningServer> {
  const resolved = resolveServeOptions(options)
  const { tls } = resolved

  // 1. The build, as a table in memory.
  const store = await openSiteStore(resolved.directory, withHsts(resolved.site, tls?.hsts))
  const giveUp = (error: unknown): never => {
    store.close()
    throw error
  }

  // 2. Who answers: the table, then the application.
  const handle = createHandler(store, resolved.handler)
  const application =
    resolved.ssr === undefined ? undefined : await startApplication(resolved.ssr).catch(giveUp)
  const listener: RequestListener =
    application === undefined
      ? handle
      : (request, response) => handle(request, response, () => application(request, response))

  // 3. How requests come, and where.
  const takesUploads = application !== undefined
  const transport = await openTransport(listener, { takesUploads }, tls).catch(giveUp)
  const origin = await listen(transport, resolved.address).catch(giveUp)
  const redirectAddress = { host: resolved.host, port: tls?.redirectPort }
  const redirects = await listenForRedirects(transport, redirectAddress).catch(async (error: unknown) => {
    await transport.drain(0)
    return giveUp(error)
  })

  const drain = async (): Promise<void> => {
    const redirectsClosed = redirects?.drain(resolved.gracePeriod)
    await transport.drain(resolved.gracePeriod)
    await redirectsClosed
  }

  let closed: Promise<void> | undefined
  return {
    get url() {
      return origin + store.current.base
    },
    get site() {
      return store.current
    },
    async reload() {
      await transport.reload?.()
      return store.reload()
    },
    close() {
      closed ??= drain().finally(() => store.close())
      return closed
    },
  }
}
