import type { Engine, EngineAddress, EngineBinding, SharedSocket } from '@serve-dist/engine'
import { lookup } from 'node:dns/promises'
import { closeSync } from 'node:fs'
import { type ListenAddress, listenError, reachableName } from '../transport/listen.ts'
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
  try {
    const actual = engine.listen(await toEngineAddress(address))
    // The engine has its own: it is open no longer than that listens.
    if (given !== undefined) closeSync(given)
    if (actual.port === 0) return `${scheme}://unix:${actual.address}:`
    return `${scheme}://${reachableName('host' in address ? address.host : actual.address)}:${actual.port}`
  } catch (error) {
    throw listenError(error instanceof Error ? error : new Error(String(error)), address)
  }
}

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
