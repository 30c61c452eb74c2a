import type { Engine, EngineAddress } from '@serve-dist/engine'
import { lookup } from 'node:dns/promises'
import { type ListenAddress, listenError, reachableName } from '../transport/listen.ts'
import { removeStaleSocket } from '../transport/remove-stale-socket.ts'

/**
 * Makes an engine accept connections.
 *
 * @returns its origin, as `listen` has it.
 * @throws OperatorError when the address is in use, not allowed or not this machine's.
 */
export async function listenNatively(
  engine: Pick<Engine, 'listen'>,
  address: ListenAddress,
): Promise<string> {
  if ('socket' in address) await removeStaleSocket(address.socket)
  try {
    const actual = engine.listen(await toEngineAddress(address))
    if (actual.port === 0) return `http://unix:${actual.address}:`
    return `http://${reachableName('host' in address ? address.host : actual.address)}:${actual.port}`
  } catch (error) {
    throw listenError(error instanceof Error ? error : new Error(String(error)), address)
  }
}

async function toEngineAddress(address: ListenAddress): Promise<EngineAddress> {
  if ('descriptor' in address) return { descriptor: address.descriptor }
  if ('socket' in address) return { path: address.socket, mode: address.socketMode }
  const { host, port } = address
  return { host: host === '*' ? host : (await lookup(host)).address, port }
}
