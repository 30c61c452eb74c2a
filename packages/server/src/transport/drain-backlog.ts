import type { Server } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Connections that the system queues for a server: Node's own default. */
const backlog = 511

/** Servers whose queue nobody uses who goes on listening. */
const owners = new WeakSet<Server>()

/** Says that all who listen on a server's socket stop together: then its queue may be narrowed. */
export function allowQueueNarrowing(server: Server): void {
  owners.add(server)
}

/**
 * Accepts the connections that the system has queued, one at each turn of the event loop (libuv 1.45 and newer), and
 * reads their requests. A server that stops listening without it resets connections that their clients take for open.
 */
export async function drainBacklog(server: Server): Promise<void> {
  narrowQueue(server)
  let hasAccepted = false
  const note = (): void => {
    hasAccepted = true
  }
  server.on('connection', note)
  // Under load new ones keep coming: later than so many, a client may as well find nobody.
  for (let round = 0; round < backlog; round += 1) {
    hasAccepted = false
    await readPending()
    if (!hasAccepted) break
  }
  server.off('connection', note)
}

/**
 * Lets Linux queue one connection at a time instead of 511, and drop other handshakes: their clients try again, find
 * nobody listening and see a refusal, where a connection left in the queue is reset. Node has no public way to do so.
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
