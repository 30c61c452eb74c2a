import type { SharedSocket } from '@serve-dist/engine'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { defined } from './defined.ts'
import type { GivenFlags } from './flags.ts'
import { type ChosenEngine, chooseEngine } from '../native/choose-engine.ts'
import type { RunningEngine } from '../native/engine-choice.ts'
import { listeningLine, type WorkersSummary } from './listening-line.ts'
import { prepareReloadTriggers, type Reload } from './prepare-reload-triggers.ts'
import { readRules } from '../load/read-rules.ts'
import { engineObstacles } from '../serve/engine-obstacles.ts'
import { readPair, serveStaged } from '../serve/serve.ts'
import { resolveServeOptions, type ServeOptions } from '../serve/serve-options.ts'
import type { ListenAddress } from '../transport/listen.ts'
import type { WatchedBuilds } from '../load/watch-build.ts'
import type { SiteSummary } from '../site/site.ts'
import { openPrimarySource, openSharedStore, storeOf } from './served-store.ts'
import { stopOnSignal } from './stop-on-signal.ts'
import { warnOfDescriptors } from './warn-of-descriptors.ts'
import { givenSocket, takeWorkerRole, type WorkerRole } from '../serve/workers/worker-role.ts'

/** What serves: this process, or workers of its own. */
interface Serving {
  readonly url: string
  readonly engine: RunningEngine
  readonly summary: SiteSummary
  readonly workers?: WorkersSummary
  readonly threads?: number
  readonly reload: Reload
  /** Tells of each build that becomes current in a store. */
  readonly watched: WatchedBuilds | undefined
  readonly opsUrl: string | undefined
  readonly redirectUrl: string | undefined
  close(): Promise<void>
  /** Rejects when nothing serves any more. */
  readonly collapse?: Promise<never>
}

/** Serves until a signal: the first lets answers in flight finish, a second ends at once. */
export async function serveCommand(directory: string, flags: GivenFlags, version: string): Promise<void> {
  const role = takeWorkerRole()
  if (role !== undefined) {
    const { runWorker } = await import('../serve/workers/run-worker.ts')
    await runWorker(async (mayListen) => {
      // The primary has chosen for all.
      const engine = role.isNative ? 'native' : 'node'
      const options = { ...(await toServeOptions(directory, flags, role)), engine } as const
      const socket = role.isNative ? givenSocket : undefined
      return await serveStaged(options, { mayListen, source: await openPrimarySource(flags), socket }, 1)
    })
    return
  }
  const { descriptor } = flags
  const stopWith = stopOnSignal()
  const { store } = flags
  const startTriggers = await prepareReloadTriggers(store === undefined ? directory : undefined, flags)
  const count = await countWorkers(flags)
  const serving = await (count === undefined || count === 1
    ? serveAlone(directory, flags, count)
    : serveByMany(directory, flags, count))
  // Before the line: a program that waits for it may send a signal at once.
  const triggers = startTriggers(serving.reload, serving.watched)
  stopWith(async () => {
    triggers.close()
    await serving.close()
  })
  if (flags.socket !== undefined && descriptor === undefined) removeAtSuddenEnd(flags.socket)
  const { redirectUrl, opsUrl } = serving
  process.stdout.write(`${listeningLine({ version, ...serving })}\n`)
  const { ssr, fsFallback, openFiles } = flags
  warnOfDescriptors(serving.summary, openFiles)
  if (ssr === undefined && fsFallback !== true) await warnOfPages(directory, flags, serving.summary)
  if (redirectUrl !== undefined) process.stdout.write(`redirecting HTTP to HTTPS · ${redirectUrl}\n`)
  if (opsUrl !== undefined) process.stdout.write(`health and metrics · ${opsUrl}\n`)
  await serving.collapse?.finally(() => triggers.close())
}

/** A build of which no path is a page starts, for it may be a library; its operator must know. */
async function warnOfPages(
  directory: string,
  { store }: Pick<GivenFlags, 'store'>,
  { pages, isNotFoundOnly }: SiteSummary,
): Promise<void> {
  if (pages > 0 && !isNotFoundOnly) return
  const { renderingCommand } = await import('../load/framework-output.ts')
  const command = store === undefined ? renderingCommand(directory) : undefined
  const module = `if a server renders ${pages === 0 ? 'its' : 'the'} pages, name its module: ${command ?? '--ssr <module>'}`
  const shell =
    "if it is the page of a single-page application, let the build write 200.html in its place (SvelteKit: fallback: '200.html')"
  const problem =
    pages === 0
      ? `the build has no page; ${module}`
      : `the only page is 404.html, so every path is a 404 but those of files: ${shell}; ${module}`
  process.stderr.write(`serve-dist: warning: ${problem}\n`)
}

/** By threads of this process where the native engine can be had; an application wants processes. */
async function serveByMany(directory: string, flags: GivenFlags, count: number): Promise<Serving> {
  const { descriptor } = flags
  const options = resolveServeOptions(await toServeOptions(directory, flags, { descriptor }))
  const { tls, address } = options
  const pair = tls && (await readPair(tls))
  const engine = await chooseEngine(flags.engine, await engineObstacles(options, false), pair)
  if (engine.binding === undefined || flags.ssr !== undefined) {
    return await serveByWorkers(flags, { count, engine, address })
  }
  return { ...(await serveAlone(directory, flags, count)), threads: count }
}

/** @param threads - of the native engine, where it answers; one for each core where nobody said how many. */
async function serveAlone(directory: string, flags: GivenFlags, threads?: number): Promise<Serving> {
  const options = await toServeOptions(directory, flags, { descriptor: flags.descriptor })
  const server = await serveStaged(options, undefined, threads)
  const { url, engine, opsUrl, redirectUrl, watched } = server
  // Not `...server`: a copy would hold the first build for good.
  return {
    url,
    engine,
    summary: server.site.summary,
    watched,
    opsUrl,
    redirectUrl,
    reload: () => server.reload(),
    close: () => server.close(),
  }
}

interface ServingWorkers {
  readonly count: number
  readonly engine: ChosenEngine
  readonly address: ListenAddress
}

async function countWorkers({ workers }: GivenFlags): Promise<number | undefined> {
  if (workers !== 'auto') return workers
  const { usableCores } = await import('@serve-dist/manifest/usable-cores')
  return usableCores()
}

async function serveByWorkers(
  flags: GivenFlags,
  { count, engine: { binding, ...engine }, address }: ServingWorkers,
): Promise<Serving> {
  const [
    { startWorkers },
    { askMetrics },
    { startPrimaryOperations },
    { openSharedSocket },
    { removeStaleSocket },
    { umaskFor },
  ] = await Promise.all([
    import('../serve/workers/start-workers.ts'),
    import('../serve/workers/ask-worker.ts'),
    import('../operations/start-primary-operations.ts'),
    import('../native/listen-natively.ts'),
    import('../transport/remove-stale-socket.ts'),
    import('../transport/listen.ts'),
  ])
  const { grace: gracePeriod, descriptor, socket, socketMode, host, port, ops } = flags
  // Node's workers make their socket through their primary.
  const isTheirs = binding === undefined && descriptor === undefined
  if (isTheirs && socket !== undefined) await removeStaleSocket(socket)
  // The workers report a host that cannot be used.
  const wantsPort = isTheirs && socket === undefined && port === 0
  const found = wantsPort ? await findFreePort(host).catch(() => undefined) : undefined
  const operations = await startPrimaryOperations(ops, askMetrics)
  let shared: SharedSocket | undefined
  const fail = async (error: unknown): Promise<never> => {
    shared?.close()
    await operations.close()
    throw error
  }
  if (binding !== undefined && descriptor === undefined) {
    shared = await openSharedSocket(binding, address).catch(fail)
  }
  const store = await openSharedStore(flags).catch(fail)
  if (store !== undefined) operations.noteStore(store.view)
  const umask = isTheirs && socket !== undefined ? umaskFor(socketMode) : undefined
  const role = { descriptor, port: found }
  const given = {
    count,
    gracePeriod,
    umask,
    role,
    socket: binding && (descriptor ?? shared?.descriptor),
    watcher: operations,
    store: store?.shared,
  }
  const workers = await startWorkers(given).catch(fail)
  return {
    ...workers,
    engine,
    watched: store?.watched,
    workers: { count, residentBytes: workers.residentBytes },
    opsUrl: operations.url,
    async close() {
      operations.beginDraining()
      // The last worker ends its queue.
      shared?.close()
      await workers.close()
      await operations.close()
    },
    collapse: workers.collapse.catch(fail),
  }
}

/**
 * A port of an address that nobody listens on, for all workers: were each to ask for any port, a worker that starts
 * after all others have died would get another one.
 */
async function findFreePort(host: string): Promise<number> {
  const server = createServer().listen({ port: 0, ...(host !== '*' && { host }), exclusive: true })
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new TypeError('listening without a port')
  return address.port
}

async function toServeOptions(
  directory: string,
  flags: GivenFlags,
  { descriptor, port = flags.port, isFirst, isReplacement = false }: Partial<WorkerRole>,
): Promise<ServeOptions> {
  const { host, grace, socket, socketMode, tlsCert, tlsKey, redirectHttp, hsts, allowHost, ssr } = flags
  const { verify, memoryBudget, largestBody, openFiles, noManifest, envFile, engine } = flags
  const { fsFallback, accessLog, ops, trustProxy } = flags
  if (ssr !== undefined) {
    // React and others choose their development build where it is not set.
    process.env['NODE_ENV'] ||= 'production'
    // An application's error that nobody caught must not take the static files down with it.
    const { keepRunning, reportApplicationError } = await import('../application/mount-application.ts')
    keepRunning(reportApplicationError)
  }
  const rules = await readRules(process.cwd(), flags)
  // One that takes the place of another must not be refused what the others serve.
  const unlisted = isReplacement && flags.unlisted === 'refuse' ? 'warn' : flags.unlisted
  // One worker warns, for all; and the primary answers operators.
  const onWarning = isFirst === false ? () => {} : undefined
  const isWorker = isFirst !== undefined
  const tls =
    tlsCert === undefined || tlsKey === undefined
      ? undefined
      : defined({ cert: tlsCert, key: tlsKey, redirectPort: redirectHttp, hsts })
  const store = storeOf(flags)
  return defined({
    ...(store ?? defined({ directory, deltas: flags.deltas })),
    port,
    host,
    socket,
    socketMode,
    descriptor,
    gracePeriod: grace,
    allowHosts: allowHost,
    engine,
    ssr,
    tls,
    site: defined({
      // With a store they have no effect, as the table of flags says.
      ...(store === undefined && { verify, unlisted, noManifest }),
      memoryBudget,
      largestBody,
      openFiles,
      rules,
      envFile,
      onWarning,
    }),
    handler: defined({ fileSystemFallback: store === undefined ? fsFallback : undefined }),
    operations: defined({
      accessLog,
      ops: isWorker && ops !== undefined ? ('primary' as const) : ops,
      trustProxy,
    }),
  })
}
/** A server that is closed removes its socket by itself. */
function removeAtSuddenEnd(socket: string): void {
  process.once('exit', (code) => {
    if (code !== 0) rmSync(socket, { force: true })
  })
}
