import { OperatorError } from '@serve-dist/manifest'
import type { Engine, EngineAddress, EngineBinding, SharedSocket } from '@serve-dist/engine'
import { lookup } from 'node:dns/promises'
import { closeSync } from 'node:fs'
import { type ListenAddress, listenError, reachableHost } from '../transport/listen.ts'
import { removeStaleSocket } from '../transport/remove-stale-socket.ts'

/**
 * Makes an engine accept connections.
 *
 * @returns its origin, as `listen` has it.
 * @throws OperatorError when the address is in use, not allowed or not this machine's.
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
    // The engine has a descriptor of its own: the socket is open no longer than that listens.
    if (taken !== undefined) closeSync(taken)
    if (actual.port === 0) return `${scheme}://unix:${actual.address}:`
    return `${scheme}://${reachableHost('host' in address ? address.host : actual.address)}:${actual.port}`
  } catch (error) {
    if (isThreadless(error)) throw new OperatorError('SD_ENGINE_UNAVAILABLE', noThreads, { cause: error })
    throw listenError(error instanceof Error ? error : new Error(String(error)), address)
  }
}

/** Nothing that is done to a socket here fails so; a thread that is to begin does. */
function isThreadless(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EAGAIN'
}

const noThreads =
  'the native engine cannot start its threads: the system allows no more of them; raise its limit (ulimit -u, systemd: TasksMax=, Docker: --pids-limit), ask for fewer with --workers, or take --engine node'

/**
 * Makes the socket of all workers, on which nobody listens as yet.
 *
 * @throws OperatorError as `listenNatively`.
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
  // A service manager's socket outlives us.
  const isOwn = !('descriptor' in address)
  if (given !== undefined) return { descriptor: given, isOwn, isShared: true }
  if ('descriptor' in address) return { descriptor: address.descriptor, isOwn, isShared: false }
  if ('socket' in address) return { path: address.socket, mode: address.socketMode }
  const { host, port } = address
  return { host: host === '*' ? host : (await lookup(host)).address, port }
}
