import type { Server } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** The number of connections that the system queues for a server: Node's default. */
const backlog = 511

/** Servers whose queue no other process keeps using. */
const owners = new WeakSet<Server>()

/** Permits narrowing the queue of a server, because all its listeners stop together. */
export function allowQueueNarrowing(server: Server): void {
  owners.add(server)
}

/**
 * Accepts the connections in the system's queue, one per turn of the event loop (libuv 1.45 and newer), and
 * reads their requests. Without this, a server that stops listening would reset connections that clients
 * consider open.
 */
export async function drainBacklog(server: Server): Promise<void> {
  narrowQueue(server)
  let hasAccepted = false
  const note = (): void => {
    hasAccepted = true
  }
  server.on('connection', note)
  // Under load, new connections keep arriving. Stop after one full queue.
  for (let round = 0; round < backlog; round += 1) {
    hasAccepted = false
    await readPending()
    if (!hasAccepted) break
  }
  server.off('connection', note)
}

/**
 * Makes Linux queue one connection instead of 511 and drop further handshakes. These clients retry and get
 * a refusal, whereas queued connections would be reset. Node has no public API for this.
 */
function narrowQueue(server: Server): void {
  if (process.platform !== 'linux' || !owners.has(server)) return
  const handle: unknown = Reflect.get(server, '_handle')
  const listen: unknown =
    typeof handle === 'object' && handle !== null ? Reflect.get(handle, 'listen') : undefined
  if (typeof listen === 'function') Reflect.apply(listen, handle, [0])
}

/** Reads what the system has already received on accepted connections. */
export async function readPending(): Promise<void> {
  await nextTurn()
  await nextTurn()
}
