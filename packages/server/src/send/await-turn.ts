import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

type Leave = () => void

/** Those who wait, by connection: a listener of each one's own would be hundreds on one socket. */
const waiting = new WeakMap<Socket, Set<Leave>>()

/**
 * Waits until a response may be written. A pipelined request whose turn has not come has no socket of its
 * own, and Node never tells its response that the client has gone.
 *
 * @returns whether its turn has come: `false` when its client has gone before.
 */
export async function awaitTurn(response: ServerResponse): Promise<boolean> {
  const { socket } = response.req
  if (response.socket !== null) return true
  if (socket.destroyed) return false
  return await new Promise((resolve) => {
    const leavers = leaversOf(socket)
    const leave = (): void => resolve(false)
    leavers.add(leave)
    response.once('socket', () => {
      leavers.delete(leave)
      resolve(true)
    })
  })
}

function leaversOf(socket: Socket): Set<Leave> {
  const known = waiting.get(socket)
  if (known !== undefined) return known
  const leavers = new Set<Leave>()
  waiting.set(socket, leavers)
  socket.once('close', () => {
    for (const leave of leavers) leave()
  })
  return leavers
}
