import type { SharedSocket } from '@serve-dist/engine'
import type { GivenFlags } from './flags.ts'
import type { ChosenEngine } from '../native/choose-engine.ts'
import { openSharedSocket } from '../native/listen-natively.ts'
import { startPrimaryOperations } from '../serve/workers/start-primary-operations.ts'
import type { RunningCommand } from './running-command.ts'
import { requestMetrics } from '../serve/workers/request-from-worker.ts'
import { s } from '@serve-dist/manifest'
import { serveFields } from '../serve/serve-options.ts'
import { startWorkers } from '../serve/workers/start-workers.ts'
import { openStoreOfFlags } from './served-store.ts'
import { findFreePort } from '../transport/find-free-port.ts'
import { type ListenAddress, umaskFor } from '../transport/listen.ts'
import { removeStaleSocket } from '../transport/remove-stale-socket.ts'

/** The decisions of the primary process before the workers start. */
interface ServingWorkers {
  readonly count: number
  readonly engine: ChosenEngine
  readonly address: ListenAddress
}

/** Starts workers that serve. The primary process owns the socket and polls the store. */
export async function serveByWorkers(
  flags: GivenFlags,
  { count, engine: { binding, ...engine }, address }: ServingWorkers,
): Promise<RunningCommand> {
  const { grace: gracePeriod, descriptor, socket, host, port, ops } = flags
  // Workers with Node's engine open their socket through the cluster module.
  const isTheirs = binding === undefined && descriptor === undefined
  if (isTheirs && socket !== undefined) await removeStaleSocket(socket.path)
  // All workers need one port: a replacement for the last worker could get another one. On failure, the workers report the
  // unusable host.
  const wantsPort = isTheirs && socket === undefined && port === 0
  const found = wantsPort ? await findFreePort(host).catch(() => undefined) : undefined
  const operations = await startPrimaryOperations(ops, requestMetrics)
  let shared: SharedSocket | undefined
  const fail = async (error: unknown): Promise<never> => {
    shared?.close()
    await operations.close()
    throw error
  }
  if (binding !== undefined && descriptor === undefined) {
    shared = await openSharedSocket(binding, address).catch(fail)
    // Also for a signal while workers start. `close` removes the socket's file only if this process made it.
    process.once('exit', () => shared?.close())
  }
  const store = await openStoreOfFlags(flags).catch(fail)
  if (store !== undefined) operations.noteStore(store.view)
  const umask =
    isTheirs && socket !== undefined
      ? umaskFor(socket.mode ?? s.defaultOf(serveFields.socketMode))
      : undefined
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
      // Workers accept the queued connections first.
      shared?.close()
      await workers.close()
      await operations.close()
    },
    collapse: workers.collapse.catch(fail),
  }
}
