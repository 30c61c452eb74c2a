import { rmSync } from 'node:fs'
import type { ServingRules } from '@serve-dist/manifest'
import { type OperationsFlags, operationsOf, withOperationsFlags } from './add-operations-options.ts'
import type { ProcessFlags } from './add-process-options.ts'
import type { SwapFlags } from './add-reload-options.ts'
import { type TlsFlags, tlsOptionsOf } from './add-tls-options.ts'
import { findFreePort } from './find-free-port.ts'
import { umaskFor } from '../transport/listen.ts'
import { listeningLine, type WorkersSummary } from './listening-line.ts'
import { keepRunning } from '../application/mount-application.ts'
import { prepareReloadTriggers, type Reload } from './prepare-reload-triggers.ts'
import { readConfig } from '../load/read-config.ts'
import { removeStaleSocket } from '../transport/remove-stale-socket.ts'
import { askMetrics } from '../serve/workers/ask-worker.ts'
import { runWorker } from '../serve/workers/run-worker.ts'
import { serveStaged } from '../serve/serve.ts'
import type { ServeOptions } from '../serve/serve-options.ts'
import type { SiteSummary } from '../site/site.ts'
import { reportApplicationError } from '../application/mount-application.ts'
import { startPrimaryOperations } from '../operations/start-primary-operations.ts'
import { startWorkers } from '../serve/workers/start-workers.ts'
import { stopOnSignal } from './stop-on-signal.ts'
import { takeWorkerRole, type WorkerRole } from '../serve/workers/worker-role.ts'

/** What the command line gave. */
export interface ServeFlags extends OperationsFlags, ProcessFlags, SwapFlags, TlsFlags {
  readonly port: number
  readonly host: string
  readonly verify: 'size' | 'hash'
  readonly memoryBudget: number
  readonly largestBody: number
  readonly prefer?: 'order' | 'smallest'
  readonly fallback?: 'spa' | '404' | 'none'
  readonly immutable?: readonly string[]
  readonly fsFallback?: boolean
  readonly config?: string
  readonly ssr?: string
  /** No flag: the socket that a service manager handed over. */
  readonly descriptor?: number | undefined
}

/** What serves: this process, or workers of its own. */
interface Serving {
  readonly url: string
  readonly summary: SiteSummary
  readonly workers?: WorkersSummary
  readonly reload: Reload
  readonly opsUrl: string | undefined
  readonly redirectUrl: string | undefined
  close(): Promise<void>
  /** Rejects when nothing serves any more. */
  readonly collapse?: Promise<never>
}

/** Serves until a signal: the first lets answers in flight finish, a second ends at once. */
export async function serveCommand(directory: string, flags: ServeFlags, version: string): Promise<void> {
  const role = takeWorkerRole()
  if (role !== undefined) {
    // The primary answers operators, for all workers.
    const own = flags.ops === undefined ? flags : { ...flags, ops: 'primary' as const }
    await runWorker(async (mayListen) => serveStaged(await toServeOptions(directory, own, role), mayListen))
    return
  }
  const { descriptor } = flags
  const stopWith = stopOnSignal()
  const startTriggers = await prepareReloadTriggers(directory, flags)
  const serving =
    flags.workers > 1
      ? await serveByWorkers(flags)
      : await serveAlone(await toServeOptions(directory, flags, { descriptor }))
  // Before the line: who reads it may send a signal at once.
  const triggers = startTriggers(serving.reload)
  stopWith(async () => {
    triggers.close()
    await serving.close()
  })
  if (flags.socket !== undefined && descriptor === undefined) removeAtSuddenEnd(flags.socket)
  process.stdout.write(`${listeningLine({ version, ...serving })}\n`)
  if (serving.redirectUrl !== undefined) {
    process.stdout.write(`serve-dist sends on to HTTPS · ${serving.redirectUrl}\n`)
  }
  if (serving.opsUrl !== undefined) process.stdout.write(`serve-dist for operators · ${serving.opsUrl}\n`)
  await serving.collapse?.finally(() => triggers.close())
}

async function serveAlone(options: ServeOptions): Promise<Serving> {
  // Not `serve`: what flags do nothing was told already, under their own names.
  const server = await serveStaged(options, async () => {})
  const { url, site, opsUrl, redirectUrl } = server
  return {
    url,
    summary: site.summary,
    opsUrl,
    redirectUrl,
    reload: () => server.reload(),
    close: () => server.close(),
  }
}

async function serveByWorkers(flags: ServeFlags): Promise<Serving> {
  const { workers: count, grace: gracePeriod, descriptor, socket, socketMode, host, port, ops } = flags
  const hasPort = socket === undefined && descriptor === undefined
  if (socket !== undefined && descriptor === undefined) await removeStaleSocket(socket)
  // What is wrong with the host, the workers will say.
  const found = hasPort && port === 0 ? await findFreePort(host).catch(() => undefined) : undefined
  const operations = await startPrimaryOperations(ops, askMetrics)
  const fail = async (error: unknown): Promise<never> => {
    await operations.close()
    throw error
  }
  const umask = socket === undefined ? undefined : umaskFor(socketMode)
  const role = { descriptor, port: found }
  const workers = await startWorkers({ count, gracePeriod, umask, role, watcher: operations }).catch(fail)
  return {
    ...workers,
    workers: { count, residentBytes: workers.residentBytes },
    opsUrl: operations.url,
    async close() {
      operations.beginDraining()
      await workers.close()
      await operations.close()
    },
    collapse: workers.collapse.catch(fail),
  }
}

async function toServeOptions(
  directory: string,
  flags: ServeFlags,
  { descriptor, port = flags.port, isFirst = true }: Partial<WorkerRole>,
): Promise<ServeOptions> {
  const { host, grace, socket, socketMode, verify, memoryBudget, largestBody, openFiles } = flags
  const config = await readConfig(process.cwd(), flags.config)
  const rules = withOperationsFlags(withFlags(config, flags), flags)
  // An application's error that nobody caught must not take the static files down with it.
  if (flags.ssr !== undefined) keepRunning(reportApplicationError)
  const tls = tlsOptionsOf(flags)
  return {
    directory,
    port,
    host,
    socketMode,
    gracePeriod: grace,
    ...(descriptor !== undefined && { descriptor }),
    ...(socket !== undefined && { socket }),
    site: {
      verify,
      memoryBudget,
      largestBody,
      rules,
      ...(openFiles !== undefined && { openFiles }),
      ...(!isFirst && { onWarning: () => {} }),
    },
    handler: { fileSystemFallback: flags.fsFallback ?? false },
    ...(flags.ssr !== undefined && { ssr: flags.ssr }),
    ...(tls !== undefined && { tls }),
    ...operationsOf(flags),
  }
}

/** A server that is closed removes its socket by itself. */
function removeAtSuddenEnd(socket: string): void {
  process.once('exit', (code) => {
    if (code !== 0) rmSync(socket, { force: true })
  })
}

/** The command line outranks the configuration; globs add up. */
function withFlags(config: ServingRules, { prefer, fallback, immutable = [] }: ServeFlags): ServingRules {
  return {
    ...config,
    ...(prefer !== undefined && { prefer }),
    ...(fallback !== undefined && { fallback }),
    immutable: [...(config.immutable ?? []), ...immutable],
  }
}
