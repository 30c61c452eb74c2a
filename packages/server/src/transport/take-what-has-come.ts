import type { Server } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Connections that the system holds for a server that has not taken them yet: Node's own default. */
const backlog = 511

/**
 * Takes what has reached this machine by now: connections from the queue, of which Node takes one at each turn
 * of its event loop (libuv 1.45 and newer), and requests from the buffers. A server that stops listening without
 * it resets connections that their clients take for open.
 */
export async function takeWhatHasCome(server: Server): Promise<void> {
  let hasTaken = false
  const note = (): void => {
    hasTaken = true
  }
  server.on('connection', note)
  // Under load there are always more: those who come after so many may as well find nobody.
  for (let round = 0; round < backlog; round += 1) {
    hasTaken = false
    await readWhatHasCome()
    if (!hasTaken) break
  }
  server.off('connection', note)
}

/** Reads the requests that have reached this machine by now, of connections that were taken. */
export async function readWhatHasCome(): Promise<void> {
  await nextTurn()
  await nextTurn()
}
