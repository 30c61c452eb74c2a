import cluster from 'node:cluster'
import { notFound } from '../site/answers.ts'
import { siteFor } from '../site/select-part.ts'
import { isMissingAsset } from '../site/missing-asset.ts'
import { sendContinue } from '../send/continue.ts'
import { sendAnswer } from '../send/send-answer.ts'
import { requireCredentials } from '../access/require-credentials.ts'
import { answerHealth } from '../operations/answer-health.ts'
import { allowHosts } from '../transport/allow-hosts.ts'
import { createHandlerFor } from '../hosts/handler.ts'
import { printProblem, withReportsOnce } from '../hosts/handler-options.ts'
import { allowQueueNarrowing } from '../transport/drain-backlog.ts'
import { coalesceRuns } from '../files/coalesce-runs.ts'
import type { BuildSource } from '../load/build-source.ts'
import { followStore } from '../live/follow-store.ts'
import { openStagedSite, type StagedSite } from '../live/open-staged-site.ts'
import type { BeforeServing } from '../load/load-build.ts'
import type { BuildPlace } from '../load/open-source.ts'
import type { ReloadOutcome } from '../live/reload-outcome.ts'
import type { RunningEngine } from '../native/choose-engine.ts'
import { openTransport } from './open-transport.ts'
import { type PreparedStart, prepareStart } from './prepare-start.ts'
import { selectBuildPlace, type ResolvedServeOptions, type ServeOptions } from './serve-options.ts'
import { findProxying } from '../site/redirects.ts'
import type { Site } from '../site/site.ts'
import type { Forward, Proxy } from '../proxy/forward.ts'
import type { SiteHolder } from '../site/site-holder.ts'
import { withoutFallbackPages } from '../site/without-fallback-pages.ts'
import type { Operations } from '../operations/start-operations.ts'
import type { ResolvedLiveSiteOptions } from '../load/load-options.ts'
import type { ServingRules } from '@serve-dist/manifest'
import type { WatchedBuilds } from '../load/watched-builds.ts'
import type { OperationsOptions } from '../operations/operations-options.ts'
import type { Application, StartedApplication } from '../application/mount-application.ts'
import type { RedirectAddress, RedirectListener } from '../transport/listen-for-redirects.ts'
import type { RequestListener } from '../transport/transport.ts'

/**
 * A served build. It has no files: threads of the native engine read their bytes, and a write to them would be
 * a data race.
 */
export type ServedSite = Pick<Site, 'directory' | 'store' | 'buildId' | 'base' | 'appType' | 'summary'>

/** A running server. */
export interface RunningServer {
  /**
   * The URL of the build, including its base; for a unix socket in the syntax of nginx:
   * `http://unix:/path:/base/`.
   */
  readonly url: string
  /** The URL of the probes and metrics, if `operations.ops` is set. */
  readonly opsUrl: string | undefined
  /** The URL that redirects plain HTTP to HTTPS, if enabled. */
  readonly redirectUrl: string | undefined
  /** The engine that serves build files. */
  readonly engine: RunningEngine
  /** The served build, without its files. */
  readonly site: ServedSite
  /**
   * Reads the certificate again, then loads and checks the current build of the folder or store, and
   * activates it. It never rejects: if the new build is invalid, the server keeps the old one.
   */
  reload(): Promise<ReloadOutcome>
  /**
   * Stops the server: it accepts no new connections, closes idle ones and finishes running answers within
   * the grace period. Settles after the last socket is closed. Further calls wait for the same end.
   */
  close(): Promise<void>
}

/**
 * Loads a build and serves it over HTTP. With a store, it follows the current build of the store.
 *
 * @throws OperatorError for a wrong option, an invalid build, an unusable `ssr` module or certificate, an
 *   address in use or a missing package. Then the server does not listen.
 */
export async function serve(options: ServeOptions = {}): Promise<RunningServer> {
  const start = await prepareStart(options, false)
  const server = await serveStaged(start)
  const following = followStore(server, () => server.reload(), start.options.site)
  const close = server.close.bind(server)
  // The same object, because its properties change.
  return Object.assign(server, {
    close() {
      following.close()
      return close()
    },
  })
}

/** The server of a worker. The primary process decides which build all workers serve. */
export interface StagedServer extends RunningServer {
  /** Reports each new current build of a store. The caller makes the server load it. */
  readonly watched: WatchedBuilds | undefined
  /** Reads the certificate again. It never rejects. */
  reloadCertificate(): Promise<void>
}

/** Waits for permission to listen. The primary process may read the metrics from then on. */
export type WaitToListen = (live: StagedSite, readMetrics: Operations['readMetrics']) => Promise<void>

/** The input from the primary process to a worker's server. */
export interface WorkerContext {
  readonly mayListen: WaitToListen
  /** The source of the builds, if it differs from the options. */
  readonly source?: BuildSource | undefined
  /** The descriptor of the socket to listen on, if the primary process created it for the native engine. */
  readonly socket?: number | undefined
}

/**
 * Starts a server like {@link serve}. It listens after it gets permission, and imports only the needed
 * code.
 *
 * @param threads - the threads of the native engine; the default is one per usable core, or one in a
 *   worker.
 */
export async function serveStaged(
  start: PreparedStart,
  worker?: WorkerContext,
  threads?: number,
): Promise<StagedServer> {
  const { options: resolved, tls: pair } = start
  const { tls } = resolved
  const { binding, ...engine } = start.engine

  // 1. The log, probes and metrics: probes are answered before a build is loaded.
  const operations = await openOperations(resolved.operations)

  // 2. The build, as a table in memory.
  const place = worker?.source ?? selectBuildPlace(resolved)
  let proxy: Proxy | undefined
  // A reload may bring the first rule that proxies.
  const beforeServing: BeforeServing = async (site) => {
    if (findProxying(site) !== undefined) proxy ??= await openProxy(() => live.current, resolved)
  }
  const live = await openBuilds(place, siteOptionsOf(resolved), beforeServing).catch(
    async (error: unknown) => {
      await operations?.close()
      throw error
    },
  )
  const giveUp = async (error: unknown): Promise<never> => {
    live.close()
    await operations?.close()
    throw error
  }

  // 3. The handlers: the table, then the application.
  const handlerOptions = withReportsOnce(resolved.handler)
  const { ssr } = resolved
  const forward: Forward = (request, response, content) => {
    if (proxy === undefined) throw new TypeError('no proxy was opened for this rule')
    proxy.forward(request, response, content)
  }
  const role = ssr === undefined ? 'standalone' : 'before-application'
  // A page that answers for an unknown path is protected, even if the path is not.
  const open: SiteHolder = {
    get current() {
      return withoutFallbackPages(live.current)
    },
  }
  // Requests that the application passes on get the fallback.
  const handleRest = createHandlerFor('after-application', live, handlerOptions, forward)
  const handleOpenRest = createHandlerFor('after-application', open, handlerOptions, forward)
  const handlePassedOn: RequestListener = (request, response) =>
    (guard.wasExcepted(request) ? handleOpenRest : handleRest)(request, response)
  const application =
    ssr === undefined ? undefined : await openApplication(ssr, handlePassedOn, resolved).catch(giveUp)
  const answerFrom = (holder: SiteHolder): RequestListener => {
    const handle = createHandlerFor(role, holder, handlerOptions, forward)
    if (application === undefined) return handle
    return (request, response) =>
      handle(request, response, () => {
        if (isMissingAsset(siteFor(live.current, request.url ?? ''), request.url ?? ''))
          sendAnswer(response, notFound)
        else sendContinue(response, () => application.answer(request, response))
      })
  }
  const guard = requireCredentials(answerFrom(live), answerFrom(open), live, (rule, value) =>
    transport.noteAccepted?.(rule, value),
  )
  const guarded = allowHosts(guard.listener, resolved.allowHosts)
  const listener = answerHealth(operations?.watch(guarded) ?? guarded, live, () => closed !== undefined)

  let closed: Promise<void> | undefined

  // 4. The transport and its address.
  const takes = {
    takesUploads: application !== undefined,
    takesUpgrades: application?.takesUpgrades === true,
  }
  const watcher = operations === undefined ? {} : { watcher: operations }
  const { onProblem } = handlerOptions
  const count = threads ?? (binding === undefined ? 1 : await countCores())
  const transport = await openTransport(
    listener,
    { ...takes, ...watcher },
    { ...resolved, tls: pair, binding, threads: count, onProblem },
  ).catch(giveUp)
  live.follow({
    prepare: async (site) => await transport.follower?.prepare(site),
    swap(site) {
      if (findProxying(site) !== undefined) transport.takeUploadsAndUpgrades()
      transport.follower?.swap(site)
    },
  })
  const hangUp = async (error: unknown): Promise<never> => {
    // With TLS, the transport watches its certificate even before it listens.
    await transport.drain(0)
    return giveUp(error)
  }
  const readMetrics = async (): ReturnType<Operations['readMetrics']> =>
    (await operations?.readMetrics()) ?? 'metrics are disabled'
  await worker?.mayListen(live, readMetrics).catch(hangUp)
  const given = worker?.socket
  const origin = await transport
    .listen({ ...resolved.address, ...(given !== undefined && { given }) })
    .catch(hangUp)
  const { host, allowHosts: hosts } = resolved
  const redirects =
    tls?.redirectPort === undefined
      ? undefined
      : await openRedirects(origin, {
          host,
          port: tls.redirectPort,
          allowHosts: hosts,
          watcher: operations,
        }).catch(hangUp)
  // The socket of a service manager outlives this process, and workers of another cluster may continue.
  if (resolved.descriptor === undefined && (worker !== undefined || !cluster.isWorker)) {
    allowQueueNarrowing(transport.server)
    if (redirects !== undefined) allowQueueNarrowing(redirects.transport.server)
  }
  operations?.becomeReady(live)

  const reload = coalesceRuns(async () => {
    await transport.reload?.()
    const outcome = await live.reload()
    operations?.noteReload(outcome)
    return outcome
  })
  const drain = async (): Promise<void> => {
    operations?.beginDraining()
    const redirectsClosed = redirects?.transport.drain(resolved.gracePeriod)
    await transport.drain(resolved.gracePeriod)
    await redirectsClosed
    await proxy?.close()
    live.close()
    await guard.close()
    await operations?.close()
  }

  return {
    get url() {
      return origin + live.current.base
    },
    opsUrl: operations?.url,
    redirectUrl: redirects?.url,
    engine: { ...engine, ...(binding !== undefined && { threads: count }) },
    get site() {
      return withoutFiles(live.current)
    },
    watched: live.watched,
    reload,
    reloadCertificate: async () => await transport.reload?.(),
    close() {
      closed ??= drain()
      return closed
    },
  }
}

function withoutFiles({ directory, store, buildId, base, appType, summary }: Site): ServedSite {
  return { directory, ...(store !== undefined && { store }), buildId, base, appType, summary }
}

async function openBuilds(
  place: BuildPlace | readonly string[],
  options: ResolvedLiveSiteOptions,
  beforeServing: BeforeServing,
): Promise<StagedSite> {
  if (!isList(place)) return await openStagedSite(place, options, beforeServing)
  const { openStagedSites } = await import('../live/open-staged-sites.ts')
  return await openStagedSites(place, options, beforeServing)
}

function isList(place: BuildPlace | readonly string[]): place is readonly string[] {
  return Array.isArray(place)
}

async function countCores(): Promise<number> {
  const { countUsableCores } = await import('@serve-dist/foundation/process/count-usable-cores')
  return countUsableCores()
}

async function openOperations(options: OperationsOptions): Promise<Operations | undefined> {
  if (options.accessLog === undefined && options.ops === undefined) return undefined
  const { startOperations } = await import('../operations/start-operations.ts')
  return await startOperations(options)
}

/** Starts the application, with the unset variables of the env file, like `node --env-file`. */
async function openApplication(
  file: string,
  passOn: Application,
  { site: { envFile }, operations: { trustProxy } }: ResolvedServeOptions,
): Promise<StartedApplication> {
  if (envFile !== undefined) {
    const { readEnvFile } = await import('../rules/read-env-file.ts')
    for (const [name, text] of Object.entries(await readEnvFile(envFile))) process.env[name] ??= text
  }
  const { startApplication } = await import('../application/mount-application.ts')
  if (trustProxy === undefined) return await startApplication(file, passOn)
  const { createSchemeReader } = await import('../operations/forwarded-scheme.ts')
  return await startApplication(file, passOn, createSchemeReader(trustProxy))
}

async function openProxy(
  currentSite: () => Site,
  { operations: { trustProxy } }: ResolvedServeOptions,
): Promise<Proxy> {
  const { openProxy: open } = await import('../proxy/forward.ts')
  return await open({ currentSite, trustProxy, onProblem: printProblem })
}

async function openRedirects(
  origin: string,
  address: RedirectAddress,
): Promise<RedirectListener | undefined> {
  const { listenForRedirects } = await import('../transport/listen-for-redirects.ts')
  return await listenForRedirects(origin, address)
}

/** Derives site options from the server options. */
function siteOptionsOf({ site, handler, ssr, tls }: ResolvedServeOptions): ResolvedLiveSiteOptions {
  return {
    ...site,
    // A snapshot: variables that the application or its file sets later would override a new file at each
    // reload.
    ...(ssr !== undefined && { environment: site.environment ?? { ...process.env } }),
    // Unlisted files are expected if the handler serves them from the disk.
    ...(handler.fileSystemFallback && { unlisted: 'ignore' }),
    ...(tls?.hsts !== undefined && { rules: withHsts(site.rules, tls.hsts) }),
  }
}

/** Adds `Strict-Transport-Security` to files; any other rule for this field takes precedence. */
function withHsts(given: ResolvedLiveSiteOptions['rules'], value: string): ResolvedLiveSiteOptions['rules'] {
  if (typeof given === 'function') return async () => addHsts(await given(), value)
  return addHsts(given, value)
}

function addHsts(rules: ServingRules, value: string): ServingRules {
  // The first rule is the weakest. Nobody else uses this spelling of the glob for all files as a key.
  const headers = { '{**,**}': { 'Strict-Transport-Security': value }, ...rules.headers }
  return { ...rules, headers }
}
