import cluster from 'node:cluster'
import { notFound } from '../site/answers.ts'
import { isMissingAsset } from '../site/missing-asset.ts'
import { sendAnswer } from '../send/send-answer.ts'
import { allowHosts } from '../transport/allow-hosts.ts'
import { createHandler } from '../hosts/handler.ts'
import { withReportsOnce } from '../hosts/handler-options.ts'
import { allowQueueNarrowing } from '../transport/drain-backlog.ts'
import { coalesceRuns } from '../files/coalesce-runs.ts'
import type { BuildSource } from '../load/build-source.ts'
import { followStore } from '../live/follow-store.ts'
import { openStagedSite, type StagedSite } from '../live/open-staged-site.ts'
import type { ReloadOutcome } from '../live/reload-outcome.ts'
import type { RunningEngine } from '../native/choose-engine.ts'
import { openTransport } from './open-transport.ts'
import { type PreparedStart, prepareStart } from './prepare-start.ts'
import { selectBuildPlace, type ResolvedServeOptions, type ServeOptions } from './serve-options.ts'
import type { Site } from '../site/site.ts'
import type { Operations } from '../operations/start-operations.ts'
import type { ResolvedLiveSiteOptions } from '../load/load-options.ts'
import type { ServingRules } from '@serve-dist/manifest'
import type { WatchedBuilds } from '../load/watched-builds.ts'
import type { OperationsOptions } from '../operations/operations-options.ts'
import type { Application, StartedApplication } from '../application/mount-application.ts'
import type { RedirectAddress, RedirectListener } from '../transport/listen-for-redirects.ts'
import type { RequestListener } from '../transport/transport.ts'

/** A server that listens. */
export interface RunningServer {
  /** Where the build is to be found, its base included; for a unix socket as nginx has it: `http://unix:/path:/base/`. */
  readonly url: string
  /** The URL of probes and metrics, if `operations.ops` asks for them. */
  readonly opsUrl: string | undefined
  /** The URL that redirects plain HTTP to HTTPS, if one does. */
  readonly redirectUrl: string | undefined
  /** Who answers the build's files. */
  readonly engine: RunningEngine
  /** The build that is served now. */
  readonly site: Site
  /**
   * Loads the build that the folder or the store has now beside the one that is served, and swaps them once it is checked;
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
 * Loads a build and serves it over HTTP; of a store, each one that becomes current.
 *
 * @throws OperatorError for a wrong option, a build that cannot be served, an `ssr` module that cannot be mounted, an
 * unusable certificate, an address that is taken or a package that is missing; then nothing listens.
 */
export async function serve(options: ServeOptions = {}): Promise<RunningServer> {
  const start = await prepareStart(options, false)
  const server = await serveStaged(start)
  const following = followStore(server, () => server.reload(), start.options.site)
  const close = server.close.bind(server)
  // Not a copy: what it serves changes.
  return Object.assign(server, {
    close() {
      following.close()
      return close()
    },
  })
}

/** A server of a worker: which build it serves is decided for all of them. */
export interface StagedServer extends RunningServer {
  /** Tells of each build that becomes current in a store: whoever started the server has them loaded. */
  readonly watched: WatchedBuilds | undefined
  /** Reads the certificate again. It never rejects. */
  reloadCertificate(): Promise<void>
}

/** Settles when a worker may listen; its primary may read the metrics from now on. */
export type WaitToListen = (live: StagedSite, readMetrics: Operations['readMetrics']) => Promise<void>

/** What the primary decides for a server of a worker. */
export interface WorkerContext {
  readonly mayListen: WaitToListen
  /** Its builds, where those are no matter of the options. */
  readonly source?: BuildSource | undefined
  /** The descriptor of the socket to listen on, where its primary has made it for the native engine. */
  readonly socket?: number | undefined
}

/**
 * As {@link serve}; it listens once that is allowed, and loads only the code of what the options ask for.
 *
 * @param threads - of the native engine, where it answers; the default is one for each core that may be used, and one in
 * a worker.
 */
export async function serveStaged(
  start: PreparedStart,
  worker?: WorkerContext,
  threads?: number,
): Promise<StagedServer> {
  const { options: resolved, tls: pair } = start
  const { tls } = resolved
  const { binding, ...engine } = start.engine

  // 1. What operators see: probes are answered before there is a build.
  const operations = await openOperations(resolved.operations)

  // 2. The build, as a table in memory.
  const place = worker?.source ?? selectBuildPlace(resolved)
  const live = await openStagedSite(place, siteOptionsOf(resolved)).catch(async (error: unknown) => {
    await operations?.close()
    throw error
  })
  const giveUp = async (error: unknown): Promise<never> => {
    live.close()
    await operations?.close()
    throw error
  }

  // 3. Who answers: the table, then the application.
  const handlerOptions = withReportsOnce(resolved.handler)
  const handle = createHandler(live, handlerOptions)
  // What the application passes on gets the build's 404 page.
  const handleMissing = createHandler(live, { ...handlerOptions, fallback: '404' })
  const application =
    resolved.ssr === undefined
      ? undefined
      : await openApplication(resolved.ssr, handleMissing, resolved.site.envFile).catch(giveUp)
  const answer: RequestListener =
    application === undefined
      ? handle
      : (request, response) =>
          handle(request, response, () => {
            if (isMissingAsset(live.current, request.url ?? '')) sendAnswer(response, notFound)
            else application.answer(request, response)
          })
  const guarded = allowHosts(answer, resolved.allowHosts)
  const listener = operations?.watch(guarded) ?? guarded

  // 4. How requests come, and where.
  const takes = {
    takesUploads: application !== undefined,
    takesUpgrades: application?.takesUpgrades ?? false,
  }
  const watcher = operations === undefined ? {} : { watcher: operations }
  const { onProblem } = handlerOptions
  const count = threads ?? (binding === undefined ? 1 : await countCores())
  const transport = await openTransport(
    listener,
    { ...takes, ...watcher },
    { ...resolved, tls: pair, binding, threads: count, onProblem },
  ).catch(giveUp)
  if (transport.follower !== undefined) live.follow(transport.follower)
  const hangUp = async (error: unknown): Promise<never> => {
    // It may not listen, but it watches its certificate.
    await transport.drain(0)
    return giveUp(error)
  }
  const readMetrics = async (): ReturnType<Operations['readMetrics']> =>
    (await operations?.readMetrics()) ?? 'they are off'
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
  // A service manager's socket outlives us, and workers of another cluster may go on.
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
    live.close()
    await operations?.close()
  }

  let closed: Promise<void> | undefined
  return {
    get url() {
      return origin + live.current.base
    },
    opsUrl: operations?.url,
    redirectUrl: redirects?.url,
    engine: { ...engine, ...(binding !== undefined && { threads: count }) },
    get site() {
      return live.current
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

async function countCores(): Promise<number> {
  const { countUsableCores } = await import('@serve-dist/foundation/process/count-usable-cores')
  return countUsableCores()
}

async function openOperations(options: OperationsOptions): Promise<Operations | undefined> {
  if (options.accessLog === undefined && options.ops === undefined) return undefined
  const { startOperations } = await import('../operations/start-operations.ts')
  return await startOperations(options)
}

/** As `node --env-file` does, an application gets all variables of the file that are not set. */
async function openApplication(
  file: string,
  passOn: Application,
  envFile?: string,
): Promise<StartedApplication> {
  if (envFile !== undefined) {
    const { readEnvFile } = await import('../rules/read-env-file.ts')
    for (const [name, text] of Object.entries(await readEnvFile(envFile))) process.env[name] ??= text
  }
  const { startApplication } = await import('../application/mount-application.ts')
  return await startApplication(file, passOn)
}

async function openRedirects(
  origin: string,
  address: RedirectAddress,
): Promise<RedirectListener | undefined> {
  const { listenForRedirects } = await import('../transport/listen-for-redirects.ts')
  return await listenForRedirects(origin, address)
}

/** What the options of the server say of those of the site. */
function siteOptionsOf({ site, handler, ssr, tls }: ResolvedServeOptions): ResolvedLiveSiteOptions {
  return {
    ...site,
    // As it is now: what the application, or its file, puts there later would outrank a new file at each reload.
    ...(ssr !== undefined && { environment: site.environment ?? { ...process.env } }),
    // What the manifest does not list is served from the disk where the handler looks there.
    ...(handler.fileSystemFallback && { unlisted: 'ignore' }),
    ...(tls?.hsts !== undefined && { rules: withHsts(site.rules, tls.hsts) }),
  }
}

/** Files are sent with `Strict-Transport-Security`, weaker than any rule for that field. */
function withHsts(rules: ServingRules, value: string): ServingRules {
  // The first rule is the weakest. Written so, the glob for everything is nobody else's key.
  const headers = { '{**,**}': { 'Strict-Transport-Security': value }, ...rules.headers }
  return { ...rules, headers }
}
