import { hasErrorCode } from '@serve-dist/foundation/files/file-error'
import { OperatorError } from '@serve-dist/manifest'
import type { Engine, EngineAddress, EngineBinding, SharedSocket } from '@serve-dist/engine'
import { lookup } from 'node:dns/promises'
import { closeSync } from 'node:fs'
import { type ListenAddress, listenError, reachableHost } from '../transport/listen.ts'
import { removeStaleSocket } from '../transport/remove-stale-socket.ts'

/**
 * Makes an engine accept connections.
 *
 * @returns the origin, in the format of `listen`.
 * @throws OperatorError if the address is in use, not permitted, or not local.
 */
export async function listenNatively(
  { engine, scheme }: { readonly engine: Pick<Engine, 'listen'>; readonly scheme: 'http' | 'https' },
  address: ListenAddress,
): Promise<string> {
  const { given } = address
  if ('socket' in address && given === undefined) await removeStaleSocket(address.socket)
  const taken = given ?? ('descriptor' in address ? address.descriptor : undefined)
  try {
    const actual = engine.listen(await toEngineAddress(address))
    // The engine has duplicated the descriptor; closing ours lets the socket close with the engine's.
    if (taken !== undefined) closeSync(taken)
    if (actual.port === 0) return `${scheme}://unix:${actual.address}:`
    return `${scheme}://${reachableHost('host' in address ? address.host : actual.address)}:${actual.port}`
  } catch (error) {
    if (isThreadless(error)) throw new OperatorError('SD_ENGINE_UNAVAILABLE', noThreads, { cause: error })
    throw listenError(error instanceof Error ? error : new Error(String(error)), address)
  }
}

/** Returns whether a thread failed to start. No socket operation here fails with this code. */
function isThreadless(error: unknown): boolean {
  return hasErrorCode(error, 'EAGAIN')
}

const noThreads =
  'the native engine cannot start its threads because of a system limit. Raise it (ulimit -u, systemd: TasksMax=, Docker: --pids-limit). Or use fewer --workers, or --engine node.'

/**
 * Creates the socket that all workers share, without listening.
 *
 * @throws OperatorError like `listenNatively`.
 */
export async function openSharedSocket(
  binding: Pick<EngineBinding, 'SharedSocket'>,
  address: ListenAddress,
): Promise<SharedSocket> {
  if ('socket' in address) await removeStaleSocket(address.socket)
  try {
    return new binding.SharedSocket(await toEngineAddress(address))
  } catch (error) {
    throw listenError(error instanceof Error ? error : new Error(String(error)), address)
  }
}

async function toEngineAddress(address: ListenAddress): Promise<EngineAddress> {
  const { given } = address
  // The socket of a service manager outlives this process.
  const isOwn = !('descriptor' in address)
  if (given !== undefined) return { descriptor: given, isOwn, isShared: true }
  if ('descriptor' in address) return { descriptor: address.descriptor, isOwn, isShared: false }
  if ('socket' in address) return { path: address.socket, mode: address.socketMode }
  const { host, port } = address
  return { host: host === '*' ? host : (await lookup(host)).address, port }
}
