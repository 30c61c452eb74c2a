import { createHandler } from './handler.ts'
import { createHttpTransport } from './create-http-transport.ts'
import { listen } from './listen.ts'
import { loadSite } from './load-site.ts'
import { resolveServeOptions, type ServeOptions } from './serve-options.ts'
import type { Site } from './site.ts'
import { startApplication } from './start-application.ts'
import type { RequestListener } from './transport.ts'

/** A server that listens. */
export interface RunningServer {
  /** Where the build is to be found, its base included. */
  readonly url: string
  readonly site: Site
  /**
   * Stops: no new connections, idle ones are closed at once, answers in flight are finished within the
   * grace period. Settles when the last socket is closed; further calls wait for the same end.
   */
  close(): Promise<void>
}

/**
 * Loads a build and serves it over HTTP.
 *
 * @throws SiteError when the build cannot be served, ApplicationError when `ssr` cannot be mounted, ListenError when the address cannot be had,
 * TypeError for a wrong option; then nothing listens.
 */
export async function serve(options: ServeOptions = {}): Promise<RunningServer> {
  const resolved = resolveServeOptions(options)

  // 1. The build, as a table in memory.
  const site = await loadSite(resolved.directory, resolved.site)

  // 2. Who answers: the table, then the application.
  const handle = createHandler(site, resolved.handler)
  const application = resolved.ssr === undefined ? undefined : await startApplication(resolved.ssr)
  const listener: RequestListener =
    application === undefined
      ? handle
      : (request, response) => handle(request, response, () => application(request, response))

  // 3. How requests come, and where.
  const transport = createHttpTransport(listener, { takesUploads: application !== undefined })
  const origin = await listen(transport, resolved)

  let closed: Promise<void> | undefined
  return {
    url: origin + site.base,
    site,
    close() {
      closed ??= transport.drain(resolved.gracePeriod)
      return closed
    },
  }
}
