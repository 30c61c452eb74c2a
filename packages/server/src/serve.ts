import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { connectionLimits, maximumConnections, socketTimeout, uploadTimeout } from './connection-limits.ts'
import { createHandler } from './handler.ts'
import { listen } from './listen.ts'
import { loadSite } from './load-site.ts'
import { mustBeRefused } from './must-be-refused.ts'
import { startApplication } from './start-application.ts'
import { resolveServeOptions, type ServeOptions } from './serve-options.ts'
import type { Site } from './site.ts'
import { type ConnectionTracker, trackConnections } from './track-connections.ts'

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
  const {
    directory,
    port,
    host,
    gracePeriod,
    site: siteOptions,
    handler: handlerOptions,
    ssr,
  } = resolveServeOptions(options)
  const site = await loadSite(directory, siteOptions)
  const handle = createHandler(site, handlerOptions)
  const application = ssr === undefined ? undefined : await startApplication(ssr)
  let isClosing = false

  const accept = (request: IncomingMessage, response: ServerResponse): void => {
    const refusal = refusalOf(request)
    if (refusal !== undefined) {
      refuse(response, refusal)
      return
    }
    tracker.track(response)
    if (isClosing) response.setHeader('Connection', 'close')
    handle(request, response, application && (() => application(request, response)))
  }
  const server = createServer(connectionLimits, accept)
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    whenItsTurn(response, () => {
      if (refusalOf(request) === undefined) response.writeContinue()
      accept(request, response)
    })
  })
  // RFC 9110 §10.1.1: any other expectation.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    refuse(response, refusalOf(request) ?? 417)
  })
  const tracker = trackConnections(server)
  // A client that has closed its half still waits for its answer (RFC 9112 §9.6); Node's types lack this.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.setTimeout(socketTimeout)
  if (application !== undefined) server.requestTimeout = uploadTimeout
  server.maxConnections = maximumConnections
  const origin = await listen(server, { port, host })

  let closed: Promise<void> | undefined
  return {
    url: origin + site.base,
    site,
    close() {
      isClosing = true
      closed ??= drain(server, tracker, gracePeriod)
      return closed
    },
  }
}

/** Behind an answer under way, Node would put a 100 between the head and the body of its own answer. */
function whenItsTurn(response: ServerResponse, act: () => void): void {
  if (response.socket === null) response.once('socket', act)
  else act()
}

/** RFC 9110 §15.6.6: what another major version means is not known. */
function refusalOf({ httpVersionMajor, rawHeaders }: IncomingMessage): 400 | 505 | undefined {
  if (httpVersionMajor !== 1) return 505
  return mustBeRefused(rawHeaders) ? 400 : undefined
}

function refuse(response: ServerResponse, status: 400 | 417 | 505): void {
  response.writeHead(status, { Connection: 'close', 'Cache-Control': 'no-store', 'Content-Length': 0 })
  response.end()
}

async function drain(server: Server, tracker: ConnectionTracker, gracePeriod: number): Promise<void> {
  const deadline = setTimeout(() => server.closeAllConnections(), gracePeriod)
  await tracker.drain()
  clearTimeout(deadline)
}
