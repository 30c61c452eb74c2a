import type { GivenFlags } from './flags.ts'
import { allAddressesLine, listeningLine } from './listening-line.ts'
import { prepareReloadTriggers } from './prepare-reload-triggers.ts'
import { removeSocketOnExit } from './remove-socket-on-exit.ts'
import { type PreparedStart, prepareStart } from '../serve/prepare-start.ts'
import { serveStaged } from '../serve/serve.ts'
import { openPrimarySource } from './served-store.ts'
import type { RunningCommand } from './running-command.ts'
import { stopOnSignal } from './stop-on-signal.ts'
import { toServeOptions } from './to-serve-options.ts'
import { warnAboutDescriptors } from './warn-about-descriptors.ts'
import { warnAboutMissingPages } from './warn-about-missing-pages.ts'
import { inheritedSocketDescriptor, takeWorkerRole, type WorkerRole } from '../serve/workers/worker-role.ts'

/** Serves until a signal. The first signal completes the open requests, the second one ends the process immediately. */
export async function serveCommand(
  directories: readonly string[],
  flags: GivenFlags,
  version: string,
): Promise<void> {
  const role = takeWorkerRole()
  if (role !== undefined) return await serveAsWorker(directories, flags, role)
  const { descriptor, host, socket, store, ssr, fsFallback } = flags
  const stopWith = stopOnSignal()
  const startTriggers = await prepareReloadTriggers(store === undefined ? directories : undefined, flags)
  const serving = await startServing(directories, flags)
  // Before the listening line, because a program that waits for it may send a signal immediately.
  const triggers = startTriggers(serving.reload, serving.watched)
  stopWith(async () => {
    triggers.close()
    await serving.close()
  })
  if (socket !== undefined && descriptor === undefined) removeSocketOnExit(socket.path)
  const { url, redirectUrl, opsUrl } = serving
  process.stdout.write(`${listeningLine({ version, ...serving })}\n`)
  // The URL has this host instead of an unspecified address.
  if (/^https?:\/\/localhost:/.test(url) && host !== 'localhost')
    process.stdout.write(`${allAddressesLine(url)}\n`)
  warnAboutDescriptors({ ...serving, hasApplication: ssr !== undefined })
  if (ssr === undefined && fsFallback !== true)
    await warnAboutMissingPages(directories[0] ?? '', flags, serving.summary)
  if (redirectUrl !== undefined) process.stdout.write(`redirecting HTTP to HTTPS · ${redirectUrl}\n`)
  if (opsUrl !== undefined) process.stdout.write(`health and metrics · ${opsUrl}\n`)
  await serving.collapse?.finally(() => triggers.close())
}

async function serveAsWorker(
  directories: readonly string[],
  flags: GivenFlags,
  role: WorkerRole,
): Promise<void> {
  const { runWorker } = await import('../serve/workers/run-worker.ts')
  await runWorker(async (mayListen) => {
    await expectApplication(flags)
    // The primary process has chosen the engine.
    const engine = role.isNative ? 'native' : 'node'
    const options = { ...(await toServeOptions(directories, flags, role)), engine } as const
    const socket = role.isNative ? inheritedSocketDescriptor : undefined
    const source = await openPrimarySource(flags)
    return await serveStaged(await prepareStart(options, true), { mayListen, source, socket }, 1)
  })
}

/** Starts a server with threads if the native engine is available, and with processes for an application. */
async function startServing(directories: readonly string[], flags: GivenFlags): Promise<RunningCommand> {
  const { descriptor, ssr } = flags
  const count = await countWorkers(flags)
  const start = await prepareStart(await toServeOptions(directories, flags, { descriptor }), false)
  if (count === undefined || count === 1) return await serveAlone(flags, start, count)
  const { engine, options } = start
  if (engine.binding !== undefined && ssr === undefined) {
    return await serveAlone(flags, start, count)
  }
  const { serveByWorkers } = await import('./serve-by-workers.ts')
  return await serveByWorkers(flags, { count, engine, address: options.address })
}

async function countWorkers({ workers }: GivenFlags): Promise<number | undefined> {
  if (workers !== 'auto') return workers
  const { countUsableCores } = await import('@serve-dist/foundation/process/count-usable-cores')
  return countUsableCores()
}

/** @param threads - threads of the native engine; defaults to one per core. */
async function serveAlone(
  flags: GivenFlags,
  start: PreparedStart,
  threads?: number,
): Promise<RunningCommand> {
  await expectApplication(flags)
  const server = await serveStaged(start, undefined, threads)
  const { url, engine, opsUrl, redirectUrl, watched } = server
  // Not `...server`, because a copied `site` would keep the first build in memory.
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

/** Prepares a process for an application. Not for the primary process, where an error must end the process. */
async function expectApplication({ ssr }: GivenFlags): Promise<void> {
  if (ssr === undefined) return
  // React and other libraries use their development build if it is not set.
  process.env['NODE_ENV'] ||= 'production'
  // An uncaught error of the application must not stop the static files.
  const { keepRunning, reportApplicationError } = await import('../application/mount-application.ts')
  keepRunning(reportApplicationError)
}
