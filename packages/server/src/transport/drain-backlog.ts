import type { Server } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Connections that the system queues for a server: Node's own default. */
const backlog = 511

/**
 * Accepts the connections that the system has queued, one at each turn of the event loop (libuv 1.45 and newer), and
 * reads their requests. A server that stops listening without it resets connections that their clients take for open.
 */
export async function drainBacklog(server: Server): Promise<void> {
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

/** Reads what the system has already received on accepted connections. */
export async function readPending(): Promise<void> {
  await nextTurn()
  await nextTurn()
}
